// A preload file (`bun --preload`) for an engine process. Signals from a test cause an uncaught error or an unhandled
// rejection.

process.on('SIGUSR2', () =>
  setTimeout(() => {
    throw new Error('an error in a timer')
  }),
)
process.on('SIGWINCH', () => void Promise.reject(new Error('an unhandled rejection')))
