// Collects the licence notices of everything in the program: the installed packages, and the parts in parts.ts.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { partsOf } from './parts.ts'

type Package = {
  name: string
  version: string
  license?: string
  homepage?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
type Notice = { title: string; licence: string; text: string }

/** Development dependencies that have a file in the built program, which therefore needs their licence notices. */
const carriedFromDevelopment = ['@ricky0123/vad-web']

export function noticesOf(root: string): string {
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  const sections: Notice[] = [
    { title: 'steno', licence: 'Apache-2.0', text: text('LICENSE') },
    ...partsOf(root).map(({ name, version, licence, text: notice, source }) => ({
      title: version ? `${name} ${version}` : name,
      licence,
      text: `${notice.trim()}\n\nSource: ${source}`,
    })),
    ...listPackages(root).map(({ folder, about }) => ({
      title: `${about.name} ${about.version}`,
      licence: about.license ?? 'not stated',
      text: licenceText(folder) ?? `No text in the package; see ${about.homepage ?? about.name}.`,
    })),
  ]
  const texts = ['LGPL-2.1', 'GCC-exception-3.1', 'GPL-3.0']
  const rule = '-'.repeat(80)
  return [
    'The parts of this program and their licences (SPDX).',
    '',
    ...sections.map(({ title, licence }) => `${title.padEnd(40)} ${licence}`),
    ...sections.flatMap(each => ['', rule, `${each.title} (${each.licence})`, rule, '', each.text.trim()]),
    ...texts.flatMap(name => ['', rule, `Text of ${name}`, rule, '', text(`licences/${name}.txt`).trim()]),
  ].join('\n')
}

/**
 * Lists the installed packages on which the program depends, directly or through other packages. Also lists the
 * packages in `carriedFromDevelopment`, of which the built program contains files, and the dependencies of these
 * packages.
 */
export function listPackages(root: string): { folder: string; about: Package }[] {
  const found = new Map<string, { folder: string; about: Package }>()
  const visit = (from: string, name: string, mustBeHere: boolean) => {
    const folder = resolvePackage(root, from, name)
    if (folder === null) {
      // An optional package may be missing, for example because it is for another platform.
      if (!mustBeHere) return
      throw new Error(`${name} is not installed`)
    }
    if (found.has(folder)) return
    const about = JSON.parse(read(join(folder, 'package.json'))) as Package
    found.set(folder, { folder, about })
    for (const dependency of Object.keys(about.dependencies ?? {})) {
      visit(folder, dependency, !(dependency in (about.optionalDependencies ?? {})))
    }
    for (const dependency of Object.keys(about.optionalDependencies ?? {})) visit(folder, dependency, false)
  }
  const { dependencies = {} } = JSON.parse(read(join(root, 'package.json'))) as Package
  for (const name of [...Object.keys(dependencies), ...carriedFromDevelopment]) visit(root, name, true)
  return [...found.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
}

/**
 * Finds the folder of an installed package as Node does: in `node_modules` of the folder `from`, then in each folder
 * above, up to `root`. Returns null if there is none.
 */
function resolvePackage(root: string, from: string, name: string): string | null {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return folder
    if (at === root || at === dirname(at)) return null
  }
}

function licenceText(folder: string): string | null {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile() && /^(licen[cs]e|copying|notice|third.?party)/i.test(entry.name))
    .map(({ name }) => name)
    .toSorted()
  return names.length > 0 ? names.map(name => read(join(folder, name)).trim()).join('\n\n') : null
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}
