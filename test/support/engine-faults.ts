// Changes the engine process of a test (see built-entry.ts): SIGUSR2 causes an uncaught error, and SIGWINCH causes an
// unhandled rejection.

export {}

process.on('SIGUSR2', () =>
  setTimeout(() => {
    throw new Error('an error in a timer')
  }),
)
process.on('SIGWINCH', () => void Promise.reject(new Error('an unhandled rejection')))
