declare module '*.sql' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: Bun exports the text of a file as its default export
  export default text
}
