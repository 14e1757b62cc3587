// The entry point of the executable of built-source.ts. The commands `served` and `simulated-worker` run the files with
// these names. Every other command runs the program.

export {}

if (process.argv[2] === 'served') await import('./served.ts')
else if (process.argv[2] === 'simulated-worker') await import('./simulated-worker.ts')
else await import('../../src/main.ts')
