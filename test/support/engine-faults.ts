// A preload file (`bun --preload`) for an engine process. A signal from a test causes an uncaught error.

process.on('SIGUSR2', () =>
  setTimeout(() => {
    throw new Error('an error in a timer')
  }),
)
process.on('SIGWINCH', () => void Promise.reject(new Error('an unhandled rejection')))
