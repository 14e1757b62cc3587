// Bundles the web app in src/web. The build calls this code once; in a checkout, the server calls it at run
// time.

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { sha256 } from '../base/hash.ts'

/** One file of the web app. The contents are compressed and in base64. */
export type PageFile = { name: string; type: string; etag: string; br: string; gzip: string }

/** The name of the HTML file in the bundle. */
export const pageName = 'index.html'

/**
 * Bundles the app whose HTML file is at `entry`. The names of all other files contain a hash of the content.
 */
export async function bundlePage(entry: string): Promise<PageFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    minify: true,
    target: 'browser',
    publicPath: '/assets/',
    naming: { entry: '[name].[ext]', chunk: '[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    conditions: ['browser', 'production'],
  })
  return Promise.all(outputs.map(packed))
}

async function packed(output: Bun.BuildArtifact): Promise<PageFile> {
  const bytes = new Uint8Array(await output.arrayBuffer())
  return {
    name: output.path.replace(/^.*\//, ''),
    type: output.type,
    etag: `"${sha256(bytes).slice(0, 16)}"`,
    br: brotliCompressSync(bytes).toString('base64'),
    gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
  }
}
