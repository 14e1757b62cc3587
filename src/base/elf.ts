// Which libraries a native file asks the loader for.

import { readFileSync } from 'node:fs'

const [dynamicKind, loadKind] = [2, 1]
const [neededTag, stringsTag] = [1n, 5n]

/** The names in the DT_NEEDED entries of a 64-bit little-endian ELF file. */
export function neededLibraries(path: string): string[] {
  const file = readFileSync(path)
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2) throw new Error(`${path} is no 64-bit ELF file`)
  const [table, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ]
  const segments = Array.from({ length: count }, (_, index) => {
    const at = table + index * size
    const [kind, from, address, length] = [
      file.readUInt32LE(at),
      Number(file.readBigUInt64LE(at + 8)),
      Number(file.readBigUInt64LE(at + 16)),
      Number(file.readBigUInt64LE(at + 32)),
    ]
    return { kind, from, address, length }
  })
  const dynamic = segments.find(each => each.kind === dynamicKind)
  if (!dynamic) return []
  const entries = Array.from({ length: dynamic.length / 16 }, (_, index) => ({
    tag: file.readBigInt64LE(dynamic.from + index * 16),
    value: Number(file.readBigUInt64LE(dynamic.from + index * 16 + 8)),
  }))
  const names = entries.find(each => each.tag === stringsTag)?.value ?? 0
  const segment = segments.find(
    each => each.kind === loadKind && names >= each.address && names < each.address + each.length,
  )
  if (!segment) throw new Error(`${path} has no names`)
  const strings = names - segment.address + segment.from
  return entries
    .filter(each => each.tag === neededTag)
    .map(({ value }) => file.toString('latin1', strings + value, file.indexOf(0, strings + value)))
}
