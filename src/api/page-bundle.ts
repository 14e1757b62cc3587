// Bundles the web app in src/web. The build of the program does this once. A server that runs from source code bundles
// the app itself.

import { sha256 } from '../base/hash.ts'
import { zlib } from '../base/late-modules.ts'

/** One file of the web app. `br` and `gzip` are its content in two compressed forms, each in base64. */
export type PageFile = { name: string; type: string; etag: string; br: string; gzip: string }

/** The name of the HTML file in the bundle. */
export const pageName = 'index.html'

/**
 * Bundles the web app that starts with the HTML file `entry`. The names of all other files contain a hash of their
 * content. `brotliQuality` is the compression level, from 0 to 11. Level 11 takes 0.2 s.
 */
export async function bundlePage(
  entry: string,
  brotliQuality: number = zlib().constants.BROTLI_MAX_QUALITY,
): Promise<PageFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    minify: true,
    target: 'browser',
    publicPath: '/assets/',
    naming: { entry: '[name].[ext]', chunk: '[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    conditions: ['browser', 'production'],
  })
  return Promise.all(outputs.map(output => packed(output, brotliQuality)))
}

async function packed(output: Bun.BuildArtifact, brotliQuality: number): Promise<PageFile> {
  const bytes = new Uint8Array(await output.arrayBuffer())
  const { brotliCompressSync, constants, gzipSync } = zlib()
  return {
    name: output.path.replace(/^.*\//, ''),
    type: output.type,
    etag: `"${sha256(bytes).slice(0, 16)}"`,
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }).toString(
      'base64',
    ),
    gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
  }
}
