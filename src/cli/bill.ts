// Writes the software bill of materials of the program as a CycloneDX 1.6 document. It lists every package, library and
// model, and the hashes of the files in the built program. Equal builds have equal documents.

import { readFileSync } from 'node:fs'
import steno from '../../package.json'
import { sha256 } from '../base/hash.ts'
import { type BuildTarget, contentsOf } from './contents.ts'
import { listPackages } from './notices.ts'
import { type LicensedPart, partsOf } from './parts.ts'

type Hash = { alg: 'SHA-256'; content: string }
type Component = {
  type: LicensedPart['type'] | 'file'
  'bom-ref'?: string
  name: string
  version?: string
  licenses?: ({ license: { id: string } } | { expression: string })[]
  purl?: string
  hashes?: Hash[]
  externalReferences?: { type: 'source-distribution' | 'website'; url: string; hashes?: Hash[] }[]
  components?: Component[]
}

/**
 * Returns the bill of materials of the program for a target. `hashOf` returns the SHA-256 hash of a file. The build
 * passes a `hashOf` with a cache, because it needs the hashes several times.
 */
export function billOf(
  root: string,
  target: BuildTarget,
  hashOf = (source: string) => sha256(readFileSync(source)),
): string {
  const files = [...contentsOf(root, target)].map(([path, source]) => fileComponent(path, hashOf(source)))
  const licensed = partsOf(root)
  const byPart = Map.groupBy(files, ({ name }) => partWith(name, licensed))
  const parts = licensed.map(part => partComponent(part, byPart.get(part) ?? []))
  const packages = listPackages(root).map(({ about }): Component => {
    const purl = `pkg:npm/${about.name.replace('@', '%40')}@${about.version}`
    const licenses = licensesOf(about.license ?? 'NOASSERTION')
    return { type: 'library', 'bom-ref': purl, name: about.name, version: about.version, licenses, purl }
  })
  // The same version of a package may be installed in several folders. Such a package is listed only once.
  const distinct = new Map(packages.map(each => [each.purl, each]))
  const components = [...parts, ...distinct.values()]
  const own = {
    type: 'application',
    'bom-ref': 'steno',
    name: 'steno',
    version: steno.version,
    licenses: licensesOf(steno.license),
    properties: [{ name: 'steno:target', value: target }],
  }
  const body = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: own },
    components,
    dependencies: [{ ref: 'steno', dependsOn: components.map(each => each['bom-ref']) }],
  }
  const serialNumber = `urn:uuid:${uuidOf(sha256(JSON.stringify(body)))}`
  return JSON.stringify({ serialNumber, ...body }, null, 2)
}

/**
 * Returns the part of the program, such as a library or a model, to which a file belongs. Returns undefined if the file
 * belongs to no part. An example is the short recording that `steno doctor` transcribes as a test.
 */
function partWith(file: string, parts: readonly LicensedPart[]): LicensedPart | undefined {
  const owners = parts.flatMap(part =>
    (part.files ?? []).filter(path => file.startsWith(path)).map(path => ({ part, length: path.length })),
  )
  return owners.toSorted((one, other) => other.length - one.length)[0]?.part
}

function partComponent(part: LicensedPart, files: Component[]): Component {
  const { name, version, type, source } = part
  const id = name.toLowerCase().replaceAll(/[^a-z]+/g, '-')
  return {
    type,
    'bom-ref': id,
    name,
    ...(version === undefined ? {} : { version, purl: `pkg:generic/${id}@${version}` }),
    licenses: licensesOf(part.licence),
    ...(source.startsWith('https:') ? { externalReferences: [referenceOf(part)] } : {}),
    ...(files.length > 0 ? { components: files } : {}),
  }
}

function referenceOf({ source, sourceSha256 }: LicensedPart) {
  return sourceSha256 === undefined
    ? { type: 'website' as const, url: source }
    : { type: 'source-distribution' as const, url: source, hashes: [sha256Hash(sourceSha256)] }
}

function fileComponent(path: string, content: string): Component {
  return { type: 'file', name: path, hashes: [sha256Hash(content)] }
}

function sha256Hash(content: string): Hash {
  return { alg: 'SHA-256', content }
}

function licensesOf(licence: string): NonNullable<Component['licenses']> {
  return /[ (]/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }]
}

/** Converts a hash to a UUID of version 8, whose content each program may choose (RFC 9562). */
function uuidOf(hash: string): string {
  const digits = `${hash.slice(0, 12)}8${hash.slice(13, 16)}8${hash.slice(17, 32)}`
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
