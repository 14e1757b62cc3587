// The scripts that complete commands, options and values in bash, zsh and fish.

import type { Description } from './command.ts'

export type NamedCommand = { name: string } & Description

export function bashScript(commands: NamedCommand[]): string {
  const first = [...new Set(commands.map(({ name }) => name.split(' ')[0]))]
  const cases = commands.map(({ name, options }) => `    '${name}') words='${flagsOf(options).join(' ')}' ;;`)
  const families = [...new Set(commands.filter(isFamily).map(({ name }) => name.split(' ')[0]))].map(
    family => {
      const members = commands.filter(({ name }) => name.startsWith(`${family} `))
      return `    ${family}) words='${members.map(({ name }) => name.split(' ')[1]).join(' ')}' ;;`
    },
  )
  const values = choicesOf(commands).map(([flag, list]) => `    --${flag}) words='${list.join(' ')}' ;;`)
  return `# bash completion of steno
_steno() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  case $before in
${values.join('\n')}
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  if ((COMP_CWORD == 1)); then
    words='${first.join(' ')}'
  elif ((COMP_CWORD == 2)) && [[ $current != -* ]]; then
    case \${COMP_WORDS[1]} in
${families.join('\n')}
    esac
  elif [[ $current == -* ]]; then
    case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases.filter(line => / '\w+ \w+'\)/.test(line)).join('\n')}
    esac
  fi
  if [[ -z $words && $current == -* ]]; then
    case \${COMP_WORDS[1]} in
${cases.filter(line => / '\w+'\)/.test(line)).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _steno steno`
}

export function zshScript(commands: NamedCommand[]): string {
  return `#compdef steno
autoload -U +X bashcompinit && bashcompinit
${bashScript(commands)}`
}

export function fishScript(commands: NamedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, help, choices }) => {
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
    return [offer, ...flags]
  })
  const families = [...new Set(commands.filter(isFamily).map(({ name }) => name.split(' ')[0]))]
  return `# fish completion of steno
function __steno_needs
  set -l words (commandline -opc)
  test (count $words) -eq 2 -a "$words[2]" = $argv[1]
end
function __steno_is
  set -l words (commandline -opc)
  test (count $words) -ge 3 -a "$words[2]" = $argv[1] -a "$words[3]" = $argv[2]
end
complete -c steno -n __fish_use_subcommand -a '${families.join(' ')}'
${lines.join('\n')}`
}

function isFamily({ name }: NamedCommand): boolean {
  return name.includes(' ')
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
