// Keeps folders with test data, such as models, that take much CPU time to make.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { sha256 } from '../../src/base/hash.ts'
import { Draft } from '../../src/base/whole-file.ts'

const root = join(import.meta.dir, '../..')
const hourMs = 60 * 60 * 1000

/**
 * Returns a folder that `make` has filled. The folder is kept until Bun's version or one of `inputs` changes, so
 * `inputs` must name everything on which its content depends. Tests must not change its files. `path` is the kind of
 * the data, a slash, and the name of the folder.
 */
export async function keptFolder(
  path: `${string}/${string}`,
  inputs: readonly string[],
  make: (folder: string) => void | Promise<void>,
): Promise<string> {
  const [kind, name] = path.split('/') as [string, string]
  const cache = join(root, 'node_modules/.cache', kind)
  const version = join(cache, sha256([Bun.version, ...inputs].join('\n')))
  const folder = join(version, name)
  mkdirSync(version, { recursive: true })
  utimesSync(version, new Date(), new Date())
  if (existsSync(folder)) return folder
  // Removes only folders that were not used for an hour. Another test run, with an older or newer version of the code,
  // may still use the other folders.
  for (const other of readdirSync(cache))
    if (statSync(join(cache, other)).mtimeMs < Date.now() - hourMs)
      rmSync(join(cache, other), { recursive: true, force: true })
  // Each process writes its own draft, because another test process may write the folder at the same time.
  using draft = new Draft(folder)
  mkdirSync(draft.path)
  await make(draft.path)
  draft.place()
  return folder
}

/** Returns the path, the size and the time of each file in a folder. They change if the content of the folder changes. */
export function filesOf(folder: string): string[] {
  return [...new Glob('**/*').scanSync(folder)].toSorted().map(path => {
    const { size, mtimeMs } = statSync(join(folder, path))
    return `${path} ${size} ${mtimeMs}`
  })
}

/**
 * Returns the path and the hash of each source file that matches one of the patterns. The paths are relative to the
 * project.
 */
export function hashesOf(...patterns: string[]): string[] {
  return patterns.flatMap(pattern => {
    const paths = [...new Glob(pattern).scanSync(root)]
    if (paths.length === 0) throw new Error(`no file matches ${pattern}`)
    return paths.toSorted().map(path => `${path} ${sha256(readFileSync(join(root, path)))}`)
  })
}
