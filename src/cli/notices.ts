// Collects the licence notices of everything in the binary: the installed packages, and the components
// inside native files.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Package = {
  name: string
  version: string
  license?: string
  homepage?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
type Notice = { title: string; licence: string; text: string }

/** Packages that are only development dependencies, but have a file in the binary. */
const carriedFromDevelopment = ['@ricky0123/vad-web']

/**
 * Components inside native files, with the address of their source code. No package.json lists these
 * components.
 */
const native: Notice[] = [
  {
    title: 'FFmpeg (in node-av)',
    licence: 'GPL-3.0-or-later',
    text: [
      'Built by the node-av project with --enable-gpl and --enable-version3, so that it holds parts under the GNU General',
      'Public License, x264 and x265 among them; its configuration names libfdk-aac too, which has a licence of its own',
      '(Fraunhofer) that the Free Software Foundation does not hold compatible with the GPL. Using the program asks nothing',
      'of you. Whoever passes the binary on owes its receivers the source of these parts: https://github.com/seydx/node-av',
      'and https://ffmpeg.org. The GNU General Public License, version 3, is at the end.',
    ].join('\n'),
  },
  {
    title: 'ONNX Runtime',
    licence: 'MIT',
    text: 'Copyright Microsoft Corporation. https://github.com/microsoft/onnxruntime',
  },
  {
    title: 'libstdc++ and libgcc',
    licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    text: [
      'Copyright Free Software Foundation. Out of the machine the program was built on, for machines that have none. The',
      'exception lets programs that use them have any licence; their source: https://gcc.gnu.org.',
    ].join('\n'),
  },
  {
    title: 'Silero VAD',
    licence: 'MIT',
    text: 'Copyright Silero Team. https://github.com/snakers4/silero-vad',
  },
  {
    title: 'Bun',
    licence: 'MIT, with JavaScriptCore and others under LGPL-2.1 and more',
    text: 'Copyright Oven. https://bun.com/docs/project/licensing',
  },
]

export function noticesOf(root: string): string {
  const packages = listPackages(root)
  const sections = [
    { title: 'steno', licence: 'Apache-2.0', text: read(join(root, 'LICENSE')) },
    ...native,
    { title: 'Whisper base', licence: 'MIT', text: read(join(root, 'models/whisper-base/LICENSE')) },
    {
      title: 'Voice encoder of Resemblyzer',
      licence: 'Apache-2.0',
      text: read(join(root, 'models/voice-encoder/LICENSE')),
    },
    ...packages.map(({ folder, about }) => ({
      title: `${about.name} ${about.version}`,
      licence: about.license ?? 'not stated',
      text: licenceText(folder) ?? `No text in the package; see ${about.homepage ?? about.name}.`,
    })),
    {
      title: 'GNU General Public License',
      licence: 'version 3',
      text: read(join(root, 'licences/GPL-3.0.txt')),
    },
  ]
  const overview = sections.map(({ title, licence }) => `${title.padEnd(40)} ${licence}`)
  const rule = '-'.repeat(80)
  return [
    'The parts of this program and their licences.',
    '',
    ...overview,
    ...sections.flatMap(({ title, licence, text }) => [
      '',
      rule,
      `${title} (${licence})`,
      rule,
      '',
      text.trim(),
    ]),
  ].join('\n')
}

/** Lists every installed package on which the program depends, directly or indirectly. */
export function listPackages(root: string): { folder: string; about: Package }[] {
  const found = new Map<string, { folder: string; about: Package }>()
  const visit = (from: string, name: string, mustBeHere: boolean) => {
    const folder = resolvePackage(root, from, name)
    if (folder === null) {
      // The package is optional and made for another platform.
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
 * Finds the folder of a package as Node does: first in the folder of the importing package, then in each
 * folder above. Returns null if no folder up to `root` contains the package.
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
