declare module 'opencc-js/dict/*' {
  const dictionary: string
  // biome-ignore lint/style/noDefaultExport: the package exports each dictionary as a default export
  export default dictionary
}
