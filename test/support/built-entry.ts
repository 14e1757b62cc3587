// The entry point of the executable of built-source.ts. The command `served` runs served.ts. Every other command runs
// the program.

export {}

if (process.argv[2] === 'served') await import('./served.ts')
else await import('../../src/main.ts')
