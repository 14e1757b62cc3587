import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { settingsIn } from '../../src/cli/installed.ts'
import { temporaryFolder } from '../support/folder.ts'

const file = `# a comment
; another comment
PLAIN=plain
SPACED = spaces around
NUMBER_SIGN=smtp://ana:p#w@mail.example
NO_COMMENT=value # no comment
QUOTED="quoted" # after
SINGLE='single # quoted'
ESCAPED="say \\"hi\\" \\$HOME \\x"
CONTINUED=one\\
two
LINES="two
lines"
  INDENTED=indented   
export EXPORTED=exported
MIDDLE=a'b'c
PARTS='a' "b" c
EMPTY=
BACKSLASH=back\\slash
SPACE_AT_END=kept\\  
1BAD=bad name
not an assignment
VARIABLE=$HOME/x
PLAIN=again
RETURN=carriage\r
END=end
OPEN="goes on
LAST=to the end`

test('the settings file of the service is read as systemd 252 reads it', async () => {
  const path = join(temporaryFolder(), 'steno.env')
  await Bun.write(path, file)
  expect(settingsIn(path)).toEqual({
    PLAIN: 'again',
    SPACED: 'spaces around',
    NUMBER_SIGN: 'smtp://ana:p#w@mail.example',
    NO_COMMENT: 'value # no comment',
    QUOTED: 'quoted# after',
    SINGLE: 'single # quoted',
    ESCAPED: 'say "hi" $HOME \\x',
    CONTINUED: 'onetwo',
    LINES: 'two\nlines',
    INDENTED: 'indented',
    MIDDLE: "a'b'c",
    PARTS: 'abc',
    EMPTY: '',
    BACKSLASH: 'backslash',
    SPACE_AT_END: 'kept ',
    VARIABLE: '$HOME/x',
    RETURN: 'carriage',
    END: 'end',
    OPEN: 'goes on\nLAST=to the end',
  })
})
