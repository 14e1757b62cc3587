// The settings of the program. Each setting has an environment variable, a default, a parser and a line of help. The
// command-line flags, the text of --help and docs/settings.md are generated from `settings`.
// Some variables are not in `settings`. base/carried.ts reads STENO_CACHE_DIR, and cli/settings.ts reads
// STENO_ENV_FILE, because only commands use these two. net/hub.ts reads HF_ENDPOINT and HF_TOKEN, which have the same
// names in the tools of Hugging Face.

import { nearest } from './base/edit-distance.ts'
import { levels } from './base/log.ts'
import {
  bareHost,
  baseUrl,
  clusterName,
  duration,
  durationOrForever,
  durationOrZero,
  flag,
  InvalidValue,
  idleTime,
  lease,
  natsAddress,
  nets,
  oneOf,
  onOrOff,
  optional,
  path,
  rateLimits,
  size,
  smtpUrl,
  text,
  whole,
} from './setting-values.ts'

type Setting<T> = { variable: string; default: string; parse: (text: string) => T; help: string }

export const settings = {
  host: setting('STENO_HOST', '127.0.0.1', bareHost, 'address to listen on'),
  port: setting('STENO_PORT', '8080', whole(0, 65535), 'port to listen on; 0 picks a free one'),
  baseUrl: setting(
    'STENO_BASE_URL',
    '',
    optional(baseUrl),
    'address that callers see; default http://HOST:PORT, or the Host header where HOST is 0.0.0.0 or ::',
  ),
  dataDir: setting(
    'STENO_DATA_DIR',
    './steno-data',
    path,
    'folder of the database, media, models and secrets',
  ),
  standby: setting(
    'STENO_STANDBY',
    '',
    optional(path),
    'folder that a pair of servers shares, of which one serves and the other waits',
  ),
  standbyAfterMs: setting(
    'STENO_STANDBY_AFTER',
    '30s',
    duration,
    'silence of the serving server after which the waiting one takes over',
  ),
  standbyEveryMs: setting(
    'STENO_STANDBY_EVERY',
    '1m',
    duration,
    'pause between two copies of the database in the shared folder',
  ),
  model: setting('STENO_MODEL', '', optional(text), 'model id, model folder or `pocket`; default by device'),
  modelsDir: setting('STENO_MODELS_DIR', '', optional(path), 'folder of the models; default DATA_DIR/models'),
  offline: setting('STENO_OFFLINE', '0', flag, '1 forbids every download of a model'),
  device: setting('STENO_DEVICE', 'auto', oneOf('auto', 'cpu', 'cuda', 'webgpu'), 'where the models run'),
  workers: setting(
    'STENO_WORKERS',
    '',
    optional(whole(0, 64)),
    'engine processes; default 1 per device; 0 leaves all jobs to `steno worker`',
  ),
  threads: setting(
    'STENO_THREADS',
    '',
    optional(whole(1, 1024)),
    'threads of each engine; default all cores',
  ),
  nats: setting(
    'STENO_NATS',
    '',
    optional(natsAddress),
    'addresses of NATS, `nats://HOST:4222` or `tls://…`: jobs go to workers on other machines too',
  ),
  natsCreds: setting('STENO_NATS_CREDS', '', optional(path), 'file with the credentials for NATS'),
  cluster: setting(
    'STENO_CLUSTER',
    'main',
    clusterName,
    'name of the server and its workers at NATS; each server needs its own',
  ),
  workerLeaseMs: setting(
    'STENO_WORKER_LEASE',
    '30s',
    lease,
    'silence of a worker after which another worker gets its jobs',
  ),
  server: setting('STENO_SERVER', '', optional(baseUrl), 'address of the server, for `steno worker`'),
  mediaProgram: setting(
    'STENO_MEDIA',
    '',
    optional(path),
    'another build of the media program, which reads media files; default the one inside',
  ),
  idleUnloadMs: setting(
    'STENO_IDLE_UNLOAD',
    '',
    optional(duration),
    'time without a job after which the engines end and give their memory back; default never',
  ),
  pricePerHourCents: setting(
    'STENO_PRICE_PER_HOUR_CENTS',
    '20',
    whole(0, 1_000_000),
    'price of an hour of audio; 0 charges nothing',
  ),
  fileBytesMax: setting('STENO_MAX_FILE_SIZE', '5GB', size, 'largest media file'),
  accountDiskBytes: setting('STENO_ACCOUNT_DISK', '100GB', size, 'most media on disk of one account'),
  diskReserveBytes: setting(
    'STENO_DISK_RESERVE',
    '2GB',
    size,
    'free space that media leaves to the database',
  ),
  requestIdleMs: setting(
    'STENO_REQUEST_IDLE',
    '60s',
    idleTime,
    'a request whose bytes stop coming for this long is dropped',
  ),
  durationMsMax: setting('STENO_MAX_DURATION', '10h', duration, 'longest audio'),
  durationMsMin: setting('STENO_MIN_DURATION', '1s', duration, 'shortest audio'),
  createdTimeoutMs: setting('STENO_TIMEOUT_CREATED', '30m', duration, 'longest time in created'),
  downloadingTimeoutMs: setting('STENO_TIMEOUT_DOWNLOADING', '15m', duration, 'longest time in downloading'),
  processingTimeoutMs: setting('STENO_TIMEOUT_PROCESSING', '45m', duration, 'longest time in processing'),
  sweepEveryMs: setting(
    'STENO_SWEEP_EVERY',
    '5s',
    duration,
    'how often timeouts and retention are looked at',
  ),
  uploadTtlMs: setting('STENO_UPLOAD_TTL', '1h', duration, 'life of an upload address'),
  idempotencyTtlMs: setting(
    'STENO_IDEMPOTENCY_TTL',
    '24h',
    duration,
    'how long a reply is kept for its Idempotency-Key',
  ),
  mediaRetentionMs: setting(
    'STENO_MEDIA_RETENTION',
    '24h',
    durationOrZero,
    'how long source media is kept after the end; 0 removes it at the end',
  ),
  transcriptRetentionMs: setting(
    'STENO_TRANSCRIPT_RETENTION',
    'forever',
    durationOrForever,
    'how long a job and its transcript are kept after the end',
  ),
  deletedRetentionMs: setting(
    'STENO_DELETED_RETENTION',
    '7d',
    duration,
    'how long a deleted job keeps its record',
  ),
  webhookTimeoutMs: setting(
    'STENO_WEBHOOK_TIMEOUT',
    '10s',
    duration,
    'longest webhook delivery, redirect included',
  ),
  webhookRetries: setting(
    'STENO_WEBHOOK_RETRIES',
    '0',
    whole(0, 10),
    'further attempts after a failed delivery: after 4 minutes, then each pause four times as long',
  ),
  rateLimits: setting(
    'STENO_RATE_LIMITS',
    'on',
    rateLimits,
    '`on`, `off` or rows: `ip=1000,jobs.create=600`',
  ),
  allowNets: setting(
    'STENO_ALLOW_NETS',
    '',
    nets,
    'networks beyond the public internet that addresses may reach',
  ),
  denyIps: setting('STENO_DENY_IPS', '', nets, 'callers that are refused with 403'),
  trustProxy: setting('STENO_TRUST_PROXY', '', nets, 'proxies whose X-Forwarded-For is trusted'),
  metricsNets: setting(
    'STENO_METRICS_NETS',
    '',
    nets,
    'networks that may read /metrics, besides this machine',
  ),
  smtpUrl: setting(
    'STENO_SMTP_URL',
    '',
    optional(smtpUrl),
    'mail server; without one mail is written to DATA_DIR/mail',
  ),
  mailFrom: setting(
    'STENO_MAIL_FROM',
    '',
    optional(text),
    'sender of mail; default steno@HOST of the base address',
  ),
  dashboard: setting('STENO_DASHBOARD', 'on', onOrOff, 'the web app at /; off leaves the API alone'),
  logLevel: setting('STENO_LOG_LEVEL', 'info', oneOf(...levels), 'lowest level that is logged'),
  log: setting('STENO_LOG', '', optional(oneOf('pretty', 'json')), '`pretty` or `json`; default by terminal'),
}

export type Config = { [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['parse']> }

export class ConfigError extends Error {}

/**
 * Matches the variables that start with STENO_ but are not settings: STENO_CACHE_DIR and STENO_ENV_FILE for commands,
 * STENO_NATIVE_DIR for the folder of unpacked files, and the variables of tests and benchmarks.
 */
const otherVariables = /^STENO_(CACHE_DIR|ENV_FILE|NATIVE_DIR|(TEST|BENCH)_\w+)$/

/** Reads the settings from environment variables. Throws one ConfigError that names all invalid values. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems = unknownVariables(environment)
  const config = Object.fromEntries(
    Object.entries(settings).map(([name, { variable, default: fallback, parse }]) => {
      const given = environment[variable] || fallback
      try {
        return [name, parse(given)]
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error
        const shown = mayHavePassword.includes(variable) ? '' : `=${given}`
        problems.push(`${variable}${shown}: ${error.message}`)
        return [name, undefined]
      }
    }),
  ) as Config
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  if (config.durationMsMin > config.durationMsMax) {
    throw new ConfigError('STENO_MIN_DURATION is longer than STENO_MAX_DURATION')
  }
  if (config.workers === 0 && config.nats === null)
    throw new ConfigError('STENO_WORKERS=0: without STENO_NATS at least one engine process is needed')
  return config
}

/** The variables whose values may contain a password. Error messages do not show these values. */
const mayHavePassword = ['STENO_SMTP_URL', 'STENO_NATS']

/**
 * Returns one message for each unknown variable that starts with STENO_. Such a variable is probably
 * misspelt.
 */
function unknownVariables(environment: Record<string, string | undefined>): string[] {
  const known = Object.values(settings).map(({ variable }) => variable)
  return Object.entries(environment)
    .filter(([name, value]) => value !== undefined && name.startsWith('STENO_') && !known.includes(name))
    .filter(([name]) => !otherVariables.test(name))
    .map(([name]) => `${name} is not a setting; the nearest one is ${nearest(name, known)}`)
}

/** Returns the URL of a server that listens on `host` and `port`. An IPv6 address is written in brackets. */
export function listeningUrl({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Converts the name of an environment variable to the name of its flag: `STENO_UPLOAD_TTL` becomes `upload-ttl`. */
export function flagOf(variable: string): string {
  return variable.replace('STENO_', '').toLowerCase().replaceAll('_', '-')
}

function setting<T>(
  variable: string,
  fallback: string,
  parse: (text: string) => T,
  help: string,
): Setting<T> {
  return { variable, default: fallback, parse, help }
}
