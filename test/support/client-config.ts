/**
 * Returns the tsconfig.json of a program that calls the API with a typed client. It has the strictest compiler options
 * that a programmer could use.
 */
export function clientConfig(options: object = {}): object {
  return {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'ESNext',
      module: 'ESNext',
      moduleResolution: 'bundler',
      types: [],
      ...options,
    },
    include: ['*.ts'],
  }
}
