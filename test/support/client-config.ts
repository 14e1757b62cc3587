/** Returns the tsconfig.json of a program that calls the API with a typed client. The option `strict` is on. */
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
