import steno from '../../package.json'
import { need } from './arguments.ts'
import { type Command, command } from './command.ts'
import { listCommands } from './completion.ts'
import { say } from './print.ts'

type Commands = Parameters<typeof listCommands>[0]

export function manOf(commands: Commands): Command {
  return command({
    usage: 'steno man',
    summary: 'Print the manual page, for man -l.',
    options: {},
    more: ['Read it: steno man | man -l -', 'Install it: steno man > /usr/local/share/man/man1/steno.1'],
    async run(positionals) {
      need(positionals)
      say(...(await manualPage(commands)))
    },
  })
}

/** Returns the lines of the manual page in the format of troff. */
async function manualPage(table: Commands): Promise<string[]> {
  const commands = await listCommands(table)
  return [
    `.TH STENO 1 "" "steno ${steno.version}"`,
    '.SH NAME',
    'steno \\- a transcription service in one file',
    '.SH SYNOPSIS',
    '.B steno',
    'COMMAND [OPTIONS]',
    '.SH COMMANDS',
    ...commands.flatMap(({ usage, summary, options, help, more }) => [
      '.SS',
      roff(usage),
      roff(summary),
      ...Object.entries(options).flatMap(([name, { type, short }]) => [
        '.TP',
        `.B ${roff(`${short === undefined ? '' : `-${short}, `}--${name}${type === 'string' ? ' VALUE' : ''}`)}`,
        roff(help[name] ?? ''),
      ]),
      ...more.flatMap(text => ['.PP', roff(text)]),
    ]),
    '.SH EXIT STATUS',
    '0 on success, 1 when something failed, 2 for wrong usage, 78 for a wrong setting, 130 after Ctrl-C, 141 when the reader of the output ended early.',
    '.SH ENVIRONMENT',
    'The settings of steno serve are environment variables; its options name them.',
  ]
}

/**
 * Escapes backslashes, hyphens, non-ASCII characters, and a point or an apostrophe at the start of a line, for troff.
 */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^ -~\n]/gu, character => `\\[u${hex(character)}]`)
    .replace(/^(?=[.'])/gm, '\\&')
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
