// A change of an engine process (see built-entry.ts): signals from a test cause an uncaught error or an unhandled
// rejection.

export {}

process.on('SIGUSR2', () =>
  setTimeout(() => {
    throw new Error('an error in a timer')
  }),
)
process.on('SIGWINCH', () => void Promise.reject(new Error('an unhandled rejection')))
