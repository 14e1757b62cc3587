// Writes the page docs/settings.md from the list of settings in src/config.ts. A test fails if the page
// differs from the list.

import { flagOf, settings } from '../src/config.ts'

export function settingsPage(): string {
  const rows = Object.values(settings).map(
    ({ variable, default: fallback, help }) =>
      `| \`${variable}\` | \`--${flagOf(variable)}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${help.replaceAll('|', '\\|')} |`,
  )
  return [
    '# Settings',
    '',
    'Environment variables, also read from a `.env` file in the working folder; each is a flag of `steno serve` too, and',
    'the flag wins. Durations are written `250ms`, `2s`, `30m`, `24h`, `7d`, sizes `100KB`, `5GB` (1 KB is 1024 bytes). A',
    'value that does not fit stops the start with a line that names it.',
    '',
    '| Variable | Flag | Default | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.main) await Bun.write(new URL('../docs/settings.md', import.meta.url), settingsPage())
