// Writes the page docs/settings.md from the list of settings in src/config/settings.ts. A test fails if this page and
// the list differ.

import { settings } from '../src/config/settings.ts'
import { flagOf } from '../src/config.ts'

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
    'value that does not fit stops the start with a line that names it, and so does a misspelt variable.',
    '',
    'The other commands read the same variables. Those on accounts, keys, jobs and backups use the data folder of',
    '`--data-dir`, of `STENO_DATA_DIR`, `./steno-data`, or of the installed service (/etc/steno.env, or the file that',
    '`STENO_ENV_FILE` names), in this order. Those that need none, such as `steno transcribe`, unpack and download below',
    '`STENO_CACHE_DIR` (`~/.cache/steno`, or below `XDG_CACHE_HOME`), or in a data folder if there is one. What is missing in',
    'the data folder, a model or the CUDA provider, is also looked for in the cache folder of its owner.',
    '',
    '| Variable | Flag | Default | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.main) await Bun.write(new URL('../docs/settings.md', import.meta.url), settingsPage())
