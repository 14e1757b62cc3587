// The entry point of the executable of built-source.ts. Two commands run the programs served.ts and simulated-worker.ts.
// Two commands run an engine process with additional code for a test (engine-faults.ts or count-run-two.ts). Every
// other command runs the program.

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
