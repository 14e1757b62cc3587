// The table of the settings: variable, default, parser and help of each. The flags, the text of --help and
// docs/settings.md are generated from this table.

import { levels } from '../base/log.ts'
import {
  bareHost,
  baseUrl,
  clusterName,
  duration,
  durationOrForever,
  durationOrZero,
  flag,
  idleTime,
  lease,
  natsAddress,
  nets,
  oneOf,
  onOrOff,
  optional,
  path,
  program,
  publicUrl,
  rateLimits,
  sender,
  size,
  smtpUrl,
  text,
  timerDuration,
  whole,
} from '../setting-values.ts'

type Setting<T> = { variable: string; default: string; parse: (text: string) => T; help: string }

export const settings = {
  host: setting('STENO_HOST', '127.0.0.1', bareHost, 'address to listen on'),
  port: setting('STENO_PORT', '8080', whole(0, 65535), 'port to listen on; 0 picks a free one'),
  baseUrl: setting(
    'STENO_BASE_URL',
    '',
    optional(publicUrl),
    'address that callers see; default http://HOST:PORT, or the Host header where HOST is 0.0.0.0 or ::, or where both are loopback names such as localhost',
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
    timerDuration,
    'silence of the serving server after which the waiting one takes over',
  ),
  standbyEveryMs: setting(
    'STENO_STANDBY_EVERY',
    '1m',
    timerDuration,
    'pause between two copies of the database in the shared folder',
  ),
  model: setting(
    'STENO_MODEL',
    '',
    optional(text),
    'model id, model folder, `auto-fast` or `pocket`; default by device',
  ),
  modelsDir: setting('STENO_MODELS_DIR', '', optional(path), 'folder of the models; default DATA_DIR/models'),
  offline: setting('STENO_OFFLINE', '0', flag, '1 forbids every download of a model'),
  device: setting(
    'STENO_DEVICE',
    'auto',
    oneOf('auto', 'cpu', 'cuda', 'webgpu'),
    'where the models run: `auto`, `cpu`, `cuda`, or `webgpu`, which needs Vulkan and was not tested',
  ),
  workers: setting(
    'STENO_WORKERS',
    '',
    optional(whole(0, 64)),
    'engine processes; default one for each NVIDIA GPU, else 1; 0 leaves all jobs to `steno worker`',
  ),
  threads: setting(
    'STENO_THREADS',
    '',
    optional(whole(1, 1024)),
    'threads of each engine; default all cores, divided by the number of engines',
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
    optional(program),
    'another build of the media program, which reads media files; default the one inside',
  ),
  idleUnloadMs: setting(
    'STENO_IDLE_UNLOAD',
    '',
    optional(timerDuration),
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
    timerDuration,
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
    'further attempts after a failed delivery: after 4 minutes, then each pause four times as long, at most a day',
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
    'networks beyond the public internet that addresses may reach, such as `10.0.0.0/8,fd00::/8,192.0.2.7`',
  ),
  denyIps: setting('STENO_DENY_IPS', '', nets, 'callers that are refused with 403: addresses or networks'),
  trustProxy: setting(
    'STENO_TRUST_PROXY',
    '',
    nets,
    'proxies whose X-Forwarded-For is trusted: addresses or networks',
  ),
  metricsNets: setting(
    'STENO_METRICS_NETS',
    '',
    nets,
    'addresses or networks that may read /metrics, besides this machine',
  ),
  smtpUrl: setting(
    'STENO_SMTP_URL',
    '',
    optional(smtpUrl),
    'mail server, `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…`; without one mail is written to DATA_DIR/mail, and the links of sign-ups are printed',
  ),
  mailFrom: setting(
    'STENO_MAIL_FROM',
    '',
    optional(sender),
    'sender of mail; default steno@HOST of the base address',
  ),
  signUp: setting(
    'STENO_SIGNUP',
    'on',
    onOrOff,
    'POST /v1/accounts for everybody; with off only `steno accounts create` makes accounts',
  ),
  dashboard: setting('STENO_DASHBOARD', 'on', onOrOff, 'the web app at /; off leaves the API alone'),
  logLevel: setting(
    'STENO_LOG_LEVEL',
    'info',
    oneOf(...levels),
    `lowest level that is logged: ${levels.map(level => `\`${level}\``).join(', ')}`,
  ),
  log: setting('STENO_LOG', '', optional(oneOf('pretty', 'json')), '`pretty` or `json`; default by terminal'),
}

/**
 * The variables of the settings that are paths, without the data folder. STENO_MODEL is a path only if its value has a
 * slash.
 */
export const pathVariables = [
  settings.standby,
  settings.model,
  settings.modelsDir,
  settings.natsCreds,
  settings.mediaProgram,
].map(({ variable }) => variable)

function setting<T>(
  variable: string,
  fallback: string,
  parse: (text: string) => T,
  help: string,
): Setting<T> {
  return { variable, default: fallback, parse, help }
}
