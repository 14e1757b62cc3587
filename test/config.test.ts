import { expect, test } from 'bun:test'
import { join, relative, resolve } from 'node:path'
import { ConfigError } from '../src/config/config-error.ts'
import { pathVariables, settings } from '../src/config/settings.ts'
import { type Config, flagOf, listeningUrl, readConfig, whyInvalid } from '../src/config.ts'
import { rates } from '../src/limits.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

test('the defaults are those of the specification', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    baseUrl: null,
    dataDir: resolve('steno-data'),
    workers: null,
    pricePerHourCents: 20,
    fileBytesMax: 5 * 1024 ** 3,
    durationMsMin: second,
    durationMsMax: 10 * hour,
    createdTimeoutMs: 30 * minute,
    downloadingTimeoutMs: 15 * minute,
    processingTimeoutMs: 45 * minute,
    sweepEveryMs: 5 * second,
    uploadTtlMs: hour,
    idempotencyTtlMs: 24 * hour,
    deletedRetentionMs: 7 * 24 * hour,
    mediaRetentionMs: 24 * hour,
    webhookTimeoutMs: 10 * second,
    rateLimits: rates,
    log: null,
  })
})

const accepted: [string, string, keyof Config, unknown][] = [
  ['STENO_HOST', 'localhost', 'host', 'localhost'],
  ['STENO_HOST', '::', 'host', '::'],
  ['STENO_HOST', '[::1]', 'host', '::1'],
  ['STENO_PORT', '0', 'port', 0],
  ['STENO_MEDIA_RETENTION', '0', 'mediaRetentionMs', 0],
  ['STENO_MEDIA_RETENTION', '0s', 'mediaRetentionMs', 0],
  ['STENO_PORT', '65535', 'port', 65_535],
  ['STENO_BASE_URL', 'https://steno.example/', 'baseUrl', 'https://steno.example'],
  ['STENO_BASE_URL', 'HTTPS://Steno.example/a//', 'baseUrl', 'https://steno.example/a'],
  ['STENO_DATA_DIR', 'here', 'dataDir', join(process.cwd(), 'here')],
  ['STENO_WORKERS', '2', 'workers', 2],
  ['STENO_DEVICE', 'cuda', 'device', 'cuda'],
  ['STENO_PRICE_PER_HOUR_CENTS', '0', 'pricePerHourCents', 0],
  ['STENO_MAX_FILE_SIZE', '100KB', 'fileBytesMax', 102_400],
  ['STENO_SWEEP_EVERY', '250ms', 'sweepEveryMs', 250],
  ['STENO_IDLE_UNLOAD', '24d', 'idleUnloadMs', 24 * 24 * hour],
  ['STENO_IDLE_UNLOAD', '30d', 'idleUnloadMs', 2 ** 31 - 1],
  ['STENO_STANDBY_EVERY', '30d', 'standbyEveryMs', 2 ** 31 - 1],
  ['STENO_STANDBY_AFTER', '300d', 'standbyAfterMs', 2 ** 31 - 1],
  ['STENO_UPLOAD_TTL', '', 'uploadTtlMs', hour],
  ['STENO_UPLOAD_TTL', '1000000d', 'uploadTtlMs', 1_000_000 * 24 * hour],
  ['STENO_MAIL_FROM', 'steno@example.org', 'mailFrom', 'steno@example.org'],
  ['STENO_MAIL_FROM', '"A, B" <s@[127.0.0.1]>', 'mailFrom', '"A, B" <s@[127.0.0.1]>'],
  ['STENO_RATE_LIMITS', 'off', 'rateLimits', 'off'],
  ['STENO_RATE_LIMITS', 'ip=1000, jobs.create=600', 'rateLimits', { ...rates, ip: 1000, 'jobs.create': 600 }],
  ['STENO_SMTP_URL', 'smtps://user:pw@mail.example', 'smtpUrl', 'smtps://user:pw@mail.example'],
  ['STENO_IDLE_UNLOAD', '5m', 'idleUnloadMs', 5 * minute],
  ['STENO_OFFLINE', '1', 'offline', true],
  ['STENO_REQUEST_IDLE', '1s', 'requestIdleMs', second],
  ['STENO_REQUEST_IDLE', '1500ms', 'requestIdleMs', 2 * second],
  ['STENO_REQUEST_IDLE', '251s', 'requestIdleMs', 251 * second],
  ['STENO_WORKER_LEASE', '1s', 'workerLeaseMs', second],
  ['STENO_WORKER_LEASE', '1h', 'workerLeaseMs', hour],
  ['STENO_CLUSTER', 'c'.repeat(32), 'cluster', 'c'.repeat(32)],
  ['STENO_LOG', 'json', 'log', 'json'],
  ['STENO_NATS', 'tls://a:1@one,tls://two', 'nats', 'tls://a:1@one,tls://two'],
  ['STENO_NATS', 'nats://a:1@one,nats://a:1@two', 'nats', 'nats://a:1@one,nats://a:1@two'],
]
test.each(accepted)('%s=%s is accepted', (variable, given, name, wanted) => {
  expect(readConfig({ [variable]: given })[name] as unknown).toEqual(wanted)
})

const refused: [string, string][] = [
  ['STENO_MEDIA', '/nowhere/steno-media'],
  ['STENO_MEDIA', '/tmp'],
  ['STENO_MEDIA', '/etc/passwd'],
  ['STENO_HOST', 'localhost:8080'],
  ['STENO_HOST', 'http://localhost'],
  ['STENO_HOST', 'two words'],
  ['STENO_HOST', 'localhost/app'],
  ['STENO_PORT', '65536'],
  ['STENO_PORT', '-1'],
  ['STENO_PORT', '80.5'],
  ['STENO_PORT', '0x50'],
  ['STENO_PORT', ' 80'],
  ['STENO_WORKERS', '0'],
  ['STENO_DEVICE', 'CUDA'],
  ['STENO_PRICE_PER_HOUR_CENTS', '0.5'],
  ['STENO_PRICE_PER_HOUR_CENTS', '-20'],
  ['STENO_MAX_FILE_SIZE', '0GB'],
  ['STENO_MAX_FILE_SIZE', '5'],
  ['STENO_UPLOAD_TTL', '0s'],
  ['STENO_UPLOAD_TTL', '-1h'],
  ['STENO_UPLOAD_TTL', '1w'],
  ['STENO_UPLOAD_TTL', '1000001d'],
  ['STENO_TRANSCRIPT_RETENTION', '999999999999d'],
  ['STENO_MAIL_FROM', 'steno'],
  ['STENO_MAIL_FROM', 'Steno <steno>'],
  ['STENO_MAIL_FROM', 'a@example.org, b@example.org'],
  ['STENO_RATE_LIMITS', 'ip=0'],
  ['STENO_RATE_LIMITS', 'constructor=5'],
  ['STENO_RATE_LIMITS', 'ip=5;jobs.get=1'],
  ['STENO_ALLOW_NETS', '10.0.0.0/33'],
  ['STENO_DENY_IPS', 'nobody'],
  ['STENO_TRUST_PROXY', '10.0.0.0/8;127.0.0.1'],
  ['STENO_OFFLINE', 'yes'],
  ['STENO_OFFLINE', '2'],
  ['STENO_REQUEST_IDLE', '999ms'],
  ['STENO_REQUEST_IDLE', '252s'],
  ['STENO_WORKER_LEASE', '999ms'],
  ['STENO_WORKER_LEASE', '61m'],
  ['STENO_CLUSTER', 'c'.repeat(33)],
  ['STENO_CLUSTER', 'a b'],
  ['STENO_IDLE_UNLOAD', 'never'],
  ['STENO_LOG', 'xml'],
]
test.each(refused)('%s=%s is refused, and the message names the variable', (variable, given) => {
  expect(problemsOf({ [variable]: given })).toEqual([expect.stringContaining(`${variable}=${given}: `)])
})

test.each([
  ['STENO_TRANSCRIPT_RETENTION', 'never', 'forever, or a duration such as'],
  ['STENO_MEDIA_RETENTION', 'none', '0, or a duration such as'],
])('the message for %s=%s names the word that is no duration', (variable, given, start) => {
  expect(problemsOf({ [variable]: given })).toEqual([
    expect.stringContaining(`${variable}=${given}: ${start}`),
  ])
})

test.each(['smtp://', 'smtps:mail.example', 'mail.example:25'])(
  'a mail server without a host is refused: %s',
  given => {
    expect(problemsOf({ STENO_SMTP_URL: given })).toEqual([
      'STENO_SMTP_URL: smtp://HOST:PORT or smtps://HOST:PORT is needed',
    ])
  },
)

test.each(['steno.example', 'ftp://steno.example', 'https://steno.example/?a=1', 'https://steno.example/#a'])(
  'a base URL that is no plain address is refused: %s',
  given => {
    const message = 'an http or https address without query is needed'
    expect(problemsOf({ STENO_BASE_URL: given })).toEqual([`STENO_BASE_URL: ${message}`])
  },
)

test.each(['https://ana:hidden@steno.example', 'https://ana@steno.example', 'https://:hidden@steno.example'])(
  'a base URL with a user or a password is refused, and not shown: %s',
  given => {
    const message = 'an address without user name and password is needed, because every caller sees it'
    expect(problemsOf({ STENO_BASE_URL: given })).toEqual([`STENO_BASE_URL: ${message}`])
    expect(readConfig({ STENO_SERVER: given }).server).toContain('steno.example')
  },
)

test('a mail server that is refused does not show its password', () => {
  const [problem] = problemsOf({ STENO_SMTP_URL: 'http://user:hidden@mail.example' })
  expect(problem).toStartWith('STENO_SMTP_URL: ')
  expect(problem).not.toContain('hidden')
})

test.each(['tls://one,nats://two', 'tls://one,tls://a:1@two', 'nats://a:1@one,nats://a:2@two'])(
  'addresses of NATS with different schemes or users are refused: %s',
  given => {
    const message =
      'STENO_NATS: all addresses need the same scheme, and the user and password of the first one, or none'
    expect(problemsOf({ STENO_NATS: given })).toEqual([message])
  },
)

test.each(['nats:one', 'nats:///one', 'http://one', ','])(
  'an address of NATS without a host or with another scheme is refused: %s',
  given => {
    const message = 'STENO_NATS: nats://HOST:PORT or tls://HOST:PORT is needed, several with commas'
    expect(problemsOf({ STENO_NATS: given })).toEqual([message])
  },
)

test('no engine process is needed if workers take the jobs', () => {
  expect(readConfig({ STENO_WORKERS: '0', STENO_NATS: 'nats://one' }).workers).toBe(0)
})

test('an unknown variable is refused, with the nearest setting', () => {
  expect(problemsOf({ STENO_MODLE: 'base', STENO_PORTS: '8080' })).toEqual([
    'STENO_MODLE is not a setting; the nearest one is STENO_MODEL',
    'STENO_PORTS is not a setting; the nearest one is STENO_PORT',
  ])
  expect(
    problemsOf({ MODEL: 'base', STENOGRAPHY: '1', STENO_NATIVE_DIR: '/x', STENO_TEST_PROGRAM: '' }),
  ).toEqual([])
  expect(problemsOf({ STENO_ENV_FILE: '/x', STENO_CACHE_DIR: '/x' })).toEqual([])
})

test('one error names all invalid settings', () => {
  const problems = problemsOf({ STENO_PORT: 'x', STENO_DEVICE: 'gpu', STENO_UPLOAD_TTL: 'soon' })
  expect(problems.map(line => line.split('=')[0])).toEqual(['STENO_PORT', 'STENO_DEVICE', 'STENO_UPLOAD_TTL'])
})

test('a minimum duration above the maximum is refused', () => {
  const [problem] = problemsOf({ STENO_MIN_DURATION: '2h', STENO_MAX_DURATION: '1h' })
  expect(problem).toContain('STENO_MIN_DURATION')
  expect(problemsOf({ STENO_MIN_DURATION: '1h', STENO_MAX_DURATION: '1h' })).toEqual([])
})

test('an IPv6 host is written in brackets in an address', () => {
  expect(listeningUrl({ host: '127.0.0.1', port: 8080 })).toBe('http://127.0.0.1:8080')
  expect(listeningUrl({ host: '::1', port: 8080 })).toBe('http://[::1]:8080')
})

test('each setting has a variable and a flag of its own', () => {
  const variables = Object.values(settings).map(({ variable }) => variable)
  expect(new Set(variables).size).toBe(variables.length)
  expect(variables.every(variable => /^STENO_[A-Z_]+$/.test(variable))).toBe(true)
  expect(flagOf('STENO_UPLOAD_TTL')).toBe('upload-ttl')
})

test('the list of settings that are paths is complete', () => {
  const program = relative('.', process.execPath)
  const paths = Object.values(settings).flatMap(({ variable, parse }) => {
    const isPath =
      whyInvalid(variable, { variable, parse }, program) === null && parse(program) === process.execPath
    return isPath ? [variable] : []
  })
  // `paths` lacks STENO_MODEL, because its value is a path only if it has a slash. Any other value is the name of a
  // model.
  expect([...pathVariables, 'STENO_DATA_DIR'].toSorted()).toEqual([...paths, 'STENO_MODEL'].toSorted())
})

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  return []
}
