// Landlock: a process restricts its own access to files, TCP and other processes. The restriction covers the calling
// thread, and the threads and processes that it starts.

import { ptr } from 'bun:ffi'
import { closeSync, openSync, statSync } from 'node:fs'
import { systemCall } from './libc.ts'

const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  /** Removing and creating the entries of a folder. */
  changeFolder: 0x1ff << 4,
  move: 1 << 13,
  truncate: 1 << 14,
  device: 1 << 15,
}
const read = right.execute | right.readFile | right.readFolder
const change = right.writeFile | right.changeFolder | right.move | right.truncate
/** The rights that apply to a file, not to a folder. */
const ofFile = right.execute | right.writeFile | right.readFile | right.truncate
/** TCP: binding and connecting. Scope: abstract sockets of other processes, and signals to them. */
const all = 0b11n

export type Paths = {
  read?: string[]
  /** Paths that may be changed. They cannot be read unless they are also in `read`. */
  write?: string[]
}

/** Returns the version of Landlock in this kernel, or 0 when it has none. */
export function landlockVersion(): number {
  const askVersion = 1
  return Math.max(0, systemCall('landlockCreateRuleset', 0, 0, askVersion))
}

/**
 * Denies access to all files except these paths and the content of these folders. If there is any such path,
 * folders can still be listed, and device operations (ioctl) remain allowed. Returns false where the kernel has no Landlock.
 */
export function restrictTo({ read: readable = [], write: writable = [] }: Paths): boolean {
  const version = landlockVersion()
  if (version === 0) return false
  const isAll = readable.length === 0 && writable.length === 0
  const handled = isAll ? read | change | right.device : (read | change) & ~right.readFolder
  const known =
    version >= 5 ? -1 : version >= 3 ? ~right.device : version === 2 ? right.move * 2 - 1 : right.move - 1
  // An older kernel refuses a structure that is larger than its own.
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

/** Adds a rule for a path. Ignores a path that does not exist or cannot be opened. */
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
