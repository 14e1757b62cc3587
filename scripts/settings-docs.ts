// Writes docs/settings.md from the settings in src/config/settings.ts and the rates in src/limits.ts.

import { settings } from '../src/config/settings.ts'
import { flagOf } from '../src/config.ts'
import { type RateName, rates } from '../src/limits.ts'

/** What each rate limit in the setting STENO_RATE_LIMITS counts, for the table in docs/settings.md. */
const counted: Record<RateName, string> = {
  ip: 'all requests of an address',
  service: '`GET /v1`, by address',
  'uploads.create': 'new uploads, of both kinds',
  'jobs.create': '`POST /v1/transcribe`',
  'jobs.get': 'a job, its exports, its media and waveform',
  'jobs.list': '`GET /v1/transcriptions`',
  events: '`GET /v1/transcribe/{id}/events`',
  'events.open': 'streams of events that are open at once; not a rate',
  deliveries: 'the list of webhook deliveries; sending one again',
  'jobs.cancel': 'cancelling',
  'jobs.delete': 'deleting',
  'jobs.edit': 'editing',
  search: '`GET /v1/search`',
  voices: '`/v1/voices`',
  openai: "OpenAI's endpoints",
  'balance.get': '`GET /v1/balance`',
  'accounts.create': 'sign-ups, and the form behind a mailed link, by address',
  'sessions.create': 'sign-ins to the web app, by address',
  app: 'what the web app asks below `/app`',
  'oauth.register': 'registrations of programs, by address',
  'oauth.authorize': 'the forms of the page of OAuth, by address',
  'oauth.token': 'tokens, by address',
  'oauth.revoke': 'revocations, by address',
  mcp: '`/mcp`; each tool counts in its own row too',
}

/** The environment variables that change how steno works but have no flag. */
const others: Record<string, string> = {
  STENO_CACHE_DIR:
    'cache folder of commands without a data folder; default `~/.cache/steno`, or below `XDG_CACHE_HOME`',
  STENO_ENV_FILE: 'settings of the installed service; default /etc/steno.env',
  STENO_NATIVE_DIR: 'set by steno for its own child processes: where its libraries are unpacked',
  HF_ENDPOINT: 'mirror of the model hub; default https://huggingface.co',
  HF_TOKEN: 'token that goes with the requests to the hub',
  HTTPS_PROXY: 'proxy for downloads of models and of the CUDA provider',
  NODE_EXTRA_CA_CERTS: 'file with further certificate authorities; not read from `.env`',
  CUDA_VISIBLE_DEVICES: 'the NVIDIA GPUs that may be used',
}

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
    '`STENO_ENV_FILE` names), in this order. A relative path in that file starts at the data folder. Commands that need no',
    'data folder, such as `steno transcribe`, unpack and download files into a data folder if there is one. Otherwise they',
    'use `STENO_CACHE_DIR` (`~/.cache/steno`, or below `XDG_CACHE_HOME`). If a model or the CUDA provider is missing in the',
    "data folder, steno also looks for it in the cache folder of the data folder's owner.",
    '',
    '| Variable | Flag | Default | |',
    '|---|---|---|---|',
    ...rows,
    '',
    '## Rows of STENO_RATE_LIMITS',
    '',
    'Requests a minute. A row counts by API key, unless it says otherwise; all sign-ins of an account together, and each',
    'connected program, count as one key. `ip=1000,jobs.create=600` changes two rows and leaves the others.',
    '',
    '| Row | Default | Counts |',
    '|---|---|---|',
    ...Object.entries(rates).map(
      ([name, rate]) => `| \`${name}\` | ${rate} | ${counted[name as RateName]} |`,
    ),
    '',
    '## Other variables',
    '',
    'They have no flag.',
    '',
    '| Variable | |',
    '|---|---|',
    ...Object.entries(others).map(([name, help]) => `| \`${name}\` | ${help} |`),
    '',
  ].join('\n')
}

if (import.meta.main) await Bun.write(new URL('../docs/settings.md', import.meta.url), settingsPage())
