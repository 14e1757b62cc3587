// What the engine's process gives up before it loads a library. It goes on to read files and to start media children,
// which give up the rest.

import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { giveUpAllBut } from '../base/sandbox.ts'
import type { Config } from '../config.ts'

/** Files of the data folder that the engine has no need of: secrets, accounts, transcripts. */
const secret = /^(secret\.key|steno\.db|serve\.lock|mail)/
const gpus = ['/dev/nvidiactl', '/dev/dri', '/dev/kfd', '/dev/dxg']

/** `dataDir` is null for a command, which has no data of others. */
export function confineEngine({
  dataDir,
  device,
}: {
  dataDir: string | null
  device: Config['device']
}): void {
  const paths = dataDir !== null && existsSync(dataDir) ? pathsWithoutSecrets(dataDir) : ['/']
  // The driver of a GPU keeps compiled programs in files of its own.
  const usesGpu = device !== 'cpu' && gpus.some(existsSync)
  giveUpAllBut({ read: paths, write: usesGpu ? paths : ['/dev'] })
}

/** All paths but the secrets. Rules of the kernel can only allow, so every neighbour of each folder above is listed. */
export function pathsWithoutSecrets(dataDir: string): string[] {
  const real = realpathSync(dataDir)
  const paths = entriesOf(real).filter(path => !secret.test(basename(path)))
  for (let folder = real; folder !== dirname(folder); folder = dirname(folder))
    paths.push(...entriesOf(dirname(folder)).filter(path => path !== folder))
  return paths
}

/** A folder that may not be listed counts as empty. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map(name => join(folder, name))
  } catch {
    return []
  }
}
