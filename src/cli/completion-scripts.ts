// The scripts that complete commands, options and values in bash, zsh and fish.

import type { Description } from './command.ts'

export type NamedCommand = { name: string } & Description

export function bashScript(commands: NamedCommand[]): string {
  const [ofTwoWords, ofOneWord] = [commands.filter(isFamily), commands.filter(command => !isFamily(command))]
  const members = Map.groupBy(ofTwoWords, firstWord)
  const families = [...members].map(([family, all]) => caseOf(family, all.map(secondWord)))
  const flags = ({ name, options }: NamedCommand) => caseOf(name, flagsOf(options))
  const suggested = ({ name, suggested }: NamedCommand) =>
    suggested.length > 0 ? [caseOf(name, suggested)] : []
  const values = choicesOf(commands).map(([flag, list]) => caseOf(`--${flag}`, list))
  return `# bash completion of steno
_steno() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words= from=1
  COMPREPLY=()
  case $before in
${values.join('\n')}
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  if ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[1]} == help ]]; then
    from=2
  fi
  local first=\${COMP_WORDS[from]} second=\${COMP_WORDS[from+1]}
  if ((COMP_CWORD == from)); then
    words='${wordsOfStart(commands).join(' ')}'
  elif [[ $current == -* ]]; then
    case "$first $second" in
${ofTwoWords.map(flags).join('\n')}
    esac
  elif ((COMP_CWORD == from + 1)); then
    case $first in
${[...families, ...ofOneWord.flatMap(suggested)].join('\n')}
    esac
  elif ((COMP_CWORD == from + 2)); then
    case "$first $second" in
${ofTwoWords.flatMap(suggested).join('\n')}
    esac
  fi
  if [[ -z $words && $current == -* ]]; then
    case $first in
${ofOneWord.map(flags).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _steno steno`
}

/** Returns a line of a bash `case` statement: for the text `words`, the script suggests `offered`. */
function caseOf(words: string, offered: readonly string[]): string {
  return `    '${words}') words='${offered.join(' ')}' ;;`
}

export function zshScript(commands: NamedCommand[]): string {
  return `#compdef steno
autoload -U +X bashcompinit && bashcompinit
${bashScript(commands)}`
}

export function fishScript(commands: NamedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, help, choices, suggested }) => {
    const [first = '', second] = name.split(' ')
    const chosen =
      second === undefined ? `__fish_seen_subcommand_from ${first}` : `__steno_is ${first} ${second}`
    const offer =
      second === undefined
        ? `complete -c steno -n __fish_use_subcommand -a ${first} -d ${quoted(summary)}`
        : `complete -c steno -n '__steno_needs ${first}' -a ${second} -d ${quoted(summary)}`
    const flags = Object.entries(options).map(([flag, { type, short }]) => {
      const letter = short === undefined ? '' : ` -s ${short}`
      const values = choices[flag] ? ` -a ${quoted(choices[flag].join(' '))}` : ''
      const argument = type === 'string' ? ` -r${values}` : ''
      return `complete -c steno -n '${chosen}'${letter} -l ${flag}${argument} -d ${quoted(help[flag] ?? '')}`
    })
    const argument =
      suggested.length > 0 ? [`complete -c steno -n '${chosen}' -a ${quoted(suggested.join(' '))}`] : []
    return [offer, ...flags, ...argument]
  })
  const families = [...new Set(commands.filter(isFamily).map(firstWord))]
  return `# fish completion of steno
function __steno_needs
  set -l words (commandline -opc)
  test (count $words) -eq 2 -a "$words[2]" = $argv[1]
end
function __steno_is
  set -l words (commandline -opc)
  test (count $words) -ge 3 -a "$words[2]" = $argv[1] -a "$words[3]" = $argv[2]
end
complete -c steno -n __fish_use_subcommand -a '${[...families, 'help'].join(' ')}'
complete -c steno -n '__steno_needs help' -a '${wordsOfStart(commands).join(' ')}'
${lines.join('\n')}`
}

function isFamily({ name }: NamedCommand): boolean {
  return name.includes(' ')
}

function firstWord({ name }: NamedCommand): string {
  return name.split(' ')[0] ?? ''
}

function secondWord({ name }: NamedCommand): string {
  return name.split(' ')[1] ?? ''
}

/** Returns the words with which a command may begin. Adds `help`, which has no entry in `commands`. */
function wordsOfStart(commands: NamedCommand[]): string[] {
  return [...new Set(commands.map(firstWord)), 'help']
}

function flagsOf(options: Description['options']): string[] {
  return Object.keys(options).map(name => `--${name}`)
}

function choicesOf(commands: NamedCommand[]): [string, readonly string[]][] {
  return Object.entries(Object.assign({}, ...commands.map(({ choices }) => choices)))
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
