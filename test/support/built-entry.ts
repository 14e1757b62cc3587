// The entry point of the executable that built-source.ts compiles for tests. The commands `served` and
// `simulated-worker` run programs that exist only for tests. The commands `engine-with-faults` and `engine-with-counts`
// run an engine process with additional code for a test. Every other command runs the program as src/main.ts does.

export {}

const [, , command] = process.argv
if (command === 'served') await import('./served.ts')
else if (command === 'simulated-worker') await import('./simulated-worker.ts')
else {
  if (command === 'engine-with-faults') await import('./engine-faults.ts')
  if (command === 'engine-with-counts') await import('./count-run-two.ts')
  if (command?.startsWith('engine-with-')) process.argv[2] = 'engine'
  await import('../../src/main.ts')
}
