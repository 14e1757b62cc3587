/** The tsconfig.json of a program that calls the API with a typed client: as strict as a client's own could be. */
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
