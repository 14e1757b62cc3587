// Landlock: a Linux feature by which a process restricts its access to files, TCP and other processes. The restriction
// also applies to all threads and processes that the calling thread starts later.

import { ptr } from 'bun:ffi'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { systemCall } from './system-call.ts'

const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  /** The rights to create and remove files and folders inside a folder, as a bit mask. */
  changeFolder: 0x1ff << 4,
  move: 1 << 13,
  truncate: 1 << 14,
}
const read = right.execute | right.readFile | right.readFolder
const change = right.writeFile | right.changeFolder | right.move | right.truncate
/**
 * The rights that a rule for a single file may contain. The kernel refuses such a rule if it contains a right that
 * applies only to folders.
 */
const ofFile = right.execute | right.writeFile | right.readFile | right.truncate
/**
 * The two lowest bits of a bit mask, for two fields of the kernel's ruleset. In the network field, they forbid the
 * process to bind or connect to TCP ports. In the scope field, they forbid signals and abstract socket connections to
 * other processes, except child processes.
 */
const bothBits = 0b11n

export type Paths = {
  read: string[]
  /** The files and folders that the process may write. A path that is also read must be in `read` too. */
  write: string[]
}

/** Returns the version of Landlock in this kernel. Returns 0 if the kernel has no Landlock. */
export function landlockVersion(): number {
  const askVersion = 1
  return Math.max(0, systemCall('landlockCreateRuleset', 0, 0, askVersion))
}

/**
 * Forbids this process to read or execute files outside `read`, and to change files outside `write`. A folder in a list
 * stands for everything below it. The process may still list folders and call ioctl. A recent kernel also forbids TCP
 * connections, TCP servers, and signals to processes that are not child processes. Returns false if the kernel does not
 * apply the restriction.
 */
export function restrictTo({ read: readable, write: writable }: Paths): boolean {
  const version = landlockVersion()
  if (version === 0) return false
  const handled = (read | change) & ~right.readFolder
  const known = version >= 3 ? -1 : version === 2 ? right.move * 2 - 1 : right.move - 1
  // The size of the structure that describes the restriction, in bytes. An older kernel refuses a larger structure.
  const size = version >= 6 ? 24 : version >= 4 ? 16 : 8
  const rights = handled & known
  const rules = systemCall(
    'landlockCreateRuleset',
    ptr(new BigUint64Array([BigInt(rights), bothBits, bothBits])),
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

/**
 * Adds a rule to the Landlock ruleset `rules`: the process keeps `rights` for `path`. Ignores a path that cannot be
 * opened.
 */
function allow(rules: number, path: string, rights: number): void {
  const file = openPath(path)
  if (file === null) return
  // Inspects the open file instead of the path, because another process may have removed the file meanwhile.
  const isFolder = fstatSync(file).isDirectory()
  // The kernel's structure landlock_path_beneath_attr: 8 bytes for the rights, 4 for the open file, no padding.
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
