// Landlock: a process gives up files, TCP, and other processes. It holds for the calling thread and all that it starts.

import { ptr } from 'bun:ffi'
import { closeSync, openSync, statSync } from 'node:fs'
import { systemCall } from './libc.ts'

const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  /** Removing, and making what a folder can hold. */
  changeFolder: 0x1ff << 4,
  move: 1 << 13,
  truncate: 1 << 14,
  device: 1 << 15,
}
const read = right.execute | right.readFile | right.readFolder
const change = right.writeFile | right.changeFolder | right.move | right.truncate
/** Rights of a file that is no folder. */
const ofFile = right.execute | right.writeFile | right.readFile | right.truncate
/** TCP: listening and connecting. Scope: abstract sockets of others, and signals to others. */
const all = 0b11n

export type Paths = {
  read?: string[]
  /** Reading is not included. */
  write?: string[]
}

/** The version of Landlock of this kernel, 0 when it has none. */
export function landlockVersion(): number {
  const askVersion = 1
  return Math.max(0, systemCall('landlockCreateRuleset', 0, 0, askVersion))
}

/** Leaves only these paths, and what is below them. Devices stay where reading does. False where the kernel cannot. */
export function restrictTo({ read: readable = [], write: writable = [] }: Paths): boolean {
  const version = landlockVersion()
  if (version === 0) return false
  const handled = read | change | (readable.length === 0 ? right.device : 0)
  const known =
    version >= 5 ? -1 : version >= 3 ? ~right.device : version === 2 ? right.move * 2 - 1 : right.move - 1
  // An older kernel refuses a structure that is longer than its own.
  const size = version >= 6 ? 24 : version >= 4 ? 16 : 8
  const rights = handled & known
  const rules = systemCall(
    'landlockCreateRuleset',
    ptr(new BigUint64Array([BigInt(rights), all, all])),
    size,
    0,
  )
  if (rules < 0) return false
  for (const path of readable) allow(rules, path, read & rights)
  for (const path of writable) allow(rules, path, change & rights)
  const isRestricted = systemCall('landlockRestrictSelf', rules, 0) === 0
  closeSync(rules)
  return isRestricted
}

/** A path that is not there, or that may not be opened, is left out. */
function allow(rules: number, path: string, rights: number): void {
  const file = openPath(path)
  if (file === null) return
  const isFolder = statSync(path).isDirectory()
  // struct landlock_path_beneath_attr, without padding.
  const rule = new DataView(new ArrayBuffer(12))
  rule.setBigUint64(0, BigInt(isFolder ? rights : rights & ofFile), true)
  rule.setInt32(8, file, true)
  const beneath = 1
  systemCall('landlockAddRule', rules, beneath, ptr(new Uint8Array(rule.buffer)), 0)
  closeSync(file)
}

function openPath(path: string): number | null {
  const asPlace = 0o10000000
  try {
    return openSync(path, asPlace)
  } catch {
    return null
  }
}
