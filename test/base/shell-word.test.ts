import { expect, test } from 'bun:test'
import { shellWord } from '../../src/base/shell-word.ts'

test.each(['/srv/steno-1.2', '/home/jürgen/daten', 'ana@example.org'])('%s needs no quotes', text => {
  expect(shellWord(text)).toBe(text)
})

test.each(['/srv/my data', "it's", '$HOME/`x`"\\', '~', '*', '', 'a;b', '#a', '!a', 'a\nb'])(
  'a shell reads %j as one word',
  text => {
    const { stdout } = Bun.spawnSync(['sh', '-c', `printf '<%s>' ${shellWord(text)}`])
    expect(`${stdout}`).toBe(`<${text}>`)
  },
)
