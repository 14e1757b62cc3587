// Restricts what the engine process may do, before the process loads ONNX Runtime. A restriction that the kernel does
// not support is left out. The engine process may still read files and start child processes for media files.

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { giveUpAllBut } from '../base/sandbox.ts'
import type { Config } from '../config.ts'
import { devicesFor } from './devices.ts'

/**
 * Matches the entries of the data folder that the engine must not read: the secret key, the lock file, the folder with
 * sent mail, and each database or backup (a name with `.db`). Two other kinds of names can contain `.db` by chance, and
 * must not match. A compact copy of a model (a copy with 8-bit weights) has a hash after a dot. A draft (a file that is
 * still being written) has a UUID after a dot.
 */
const secret = /^(secret\.key|serve\.lock|mail)|\.db(?![0-9a-f]{6}(\.compact|-[0-9a-f]{4}-))/
const gpus = ['/dev/nvidiactl', '/dev/dri', '/dev/kfd', '/dev/dxg']

export type EngineRights = {
  /** The data folder of the server, whose secrets this process must not read. Null without a server. */
  dataDir: string | null
  device: Config['device']
  /** The folder of the model. */
  folder?: string
  mediaProgram?: Config['mediaProgram']
  /**
   * The folder to which this process may write a compact copy of a model (a copy with 8-bit weights). Missing if the
   * process makes no compact copy.
   */
  writes?: string
}

/** Restricts what this process may do, and the files that it may read and write. */
export function confineEngine({ dataDir, device, folder, mediaProgram, writes }: EngineRights): void {
  const needed = [process.execPath, folder, mediaProgram].filter(path => typeof path === 'string')
  const paths = dataDir !== null && existsSync(dataDir) ? readablePaths(dataDir, needed) : ['/']
  // A GPU driver writes compiled code to cache files in unknown places. A process that uses a GPU may therefore write
  // to all paths that it may read.
  giveUpAllBut({
    read: paths,
    write: [...(usesGpu({ device, folder }) ? paths : ['/dev']), ...(writes === undefined ? [] : [writes])],
  })
}

/**
 * Returns true if a process that loads the speech model in `folder` may use a GPU. A process without a model uses no
 * GPU. `hasGpu` is true if the machine has a GPU.
 */
export function usesGpu(
  { device, folder }: { device: Config['device']; folder: string | undefined },
  hasGpu = gpus.some(existsSync),
): boolean {
  return hasGpu && folder !== undefined && devicesFor(device, folder).some(each => each !== 'cpu')
}

/**
 * Returns the paths that the engine may read. A Landlock rule (an access rule of the Linux kernel) for a folder allows
 * all files below this folder. A rule for the data folder, or for a folder above it, would therefore also allow secret
 * files, such as `secret.key`. So the entries of these folders are listed one by one, without the secret files.
 */
export function readablePaths(dataDir: string, needed: string[] = []): string[] {
  const real = realpathSync(dataDir)
  const found = [...needed, ...needed.flatMap(filesIn)].filter(existsSync)
  const kept = new Set(found.map(path => realpathSync(path)))
  const paths = entriesOf(real).filter(path => !secret.test(basename(path)))
  for (let folder = real; folder !== dirname(folder); folder = dirname(folder))
    paths.push(...entriesOf(dirname(folder)).filter(path => path !== folder))
  // Plain files that the engine does not need are left out. The kernel keeps a file with a Landlock rule until the
  // engine ends, so the space of a deleted file would not become free.
  return paths.filter(path => kept.has(path) || !isPlainFile(path))
}

/**
 * Returns the files in a model folder and in its folder `onnx`. A file may be a symbolic link to a file in another
 * folder, so the caller must resolve the paths.
 */
function filesIn(folder: string): string[] {
  return [folder, join(folder, 'onnx')].flatMap(entriesOf).filter(isPlainFile)
}

function isPlainFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Returns the paths of a folder's entries, or an empty list if the folder cannot be read. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map(name => join(folder, name))
  } catch {
    return []
  }
}
