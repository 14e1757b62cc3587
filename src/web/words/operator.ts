// The texts of the operator's page.

export const operatorWords = {
  operator: {
    title: 'Operator',
    notOperator:
      'This page is for operators. The command steno accounts operator EMAIL on makes an account one.',
    engine: 'Engine',
    ready: 'ready',
    notReady: 'not ready',
    workers: 'Jobs at once',
    since: (time: string) => `The server started ${time}`,
    processing: 'Being transcribed',
    preparing: (count: string) => `${count} being prepared`,
    waiting: 'Waiting',
    disk: 'Free disk space',
    diskParts: (total: string, media: string) => `of ${total}; recordings and running uploads take ${media}`,
    memory: 'Memory of the server',
    allWell: 'Nothing is wrong.',
    faults: 'What is wrong',
    diskLow: (reserve: string) =>
      `The disk is almost full. New recordings are refused when less than ${reserve} is free.`,
    jobsFailed: (count: number) =>
      count === 1
        ? 'A job failed because of an error in the server.'
        : `${count} jobs failed because of an error in the server.`,
    crashed: (count: number) =>
      `${count === 1 ? 'The engine crashed once' : `The engine crashed ${count} times`} since the start of the server, and was started again. The log says why.`,
    eventsLost: (count: number) =>
      `${count === 1 ? 'A webhook event' : `${count} webhook events`} of the last 24 hours could not be delivered.`,
    lastDay: 'The last 24 hours',
    jobsByHour: 'Jobs by hour',
    audioByHour: 'Audio by hour',
    waitByHour: 'Longest wait by hour',
    audio: 'Audio',
    wait: 'Wait',
    most: (value: string) => `at most ${value}`,
    nothing: 'nothing yet',
    errors: 'Failed jobs of the last 24 hours',
    noErrors: 'None.',
    errorColumns: ['Reason', 'Jobs', 'Last'],
    causes: {
      URL_NOT_ACCESSIBLE:
        'The address could not be read, or it led to no file or into a network that STENO_ALLOW_NETS does not name.',
      DOWNLOAD_FAILED:
        'The download broke off, was too slow or was damaged, or the account had no space left (STENO_ACCOUNT_DISK).',
      FILE_TOO_LARGE: 'The file was larger than STENO_MAX_FILE_SIZE.',
      INVALID_MEDIA_FORMAT: 'The file was no recording that can be read.',
      DURATION_TOO_LONG: 'The recording was longer than STENO_MAX_DURATION.',
      INSUFFICIENT_BALANCE: 'The balance of the account did not cover the recording.',
      PROCESSING_ERROR:
        'The engine or the program that reads media failed, or a model is missing. See the log.',
      CREATED_TIMEOUT: 'The job waited for its preparation longer than STENO_TIMEOUT_CREATED.',
      DOWNLOAD_TIMEOUT: 'The download took longer than STENO_TIMEOUT_DOWNLOADING.',
      PROCESSING_TIMEOUT: 'The recognition took longer than STENO_TIMEOUT_PROCESSING.',
      BILLING_ERROR: 'The account could not be charged. See the log.',
      INTERNAL_ERROR: 'There was an error in the server. See the log.',
    } as Record<string, string>,
    accounts: 'Accounts of the last 30 days',
    accountColumns: ['Account', 'Jobs', 'Audio', 'Charged', 'Balance', 'Last job'],
    never: 'never',
    requests: 'Latest requests',
    onlyFailed: 'Only failed ones',
    requestColumns: ['Time', 'Request', 'Status', 'Duration', 'Account'],
    ms: (value: string) => `${value} ms`,
  },
}
