// Lists the carried files: the libraries, models and other files that the built program contains and unpacks.

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export type BuildTarget = 'linux-x64' | 'linux-arm64'

const machines = { 'linux-x64': 'x86_64', 'linux-arm64': 'aarch64' }
/** The number of each processor type in the ELF header of a program or library. */
const machineNumbers = { x86_64: 62, aarch64: 183 } as Record<string, number>

/** The model folders, each with a pattern of its files. */
const modelFiles = [
  ['models/whisper-base', '*.json'],
  ['models/whisper-base', '*.onnx'],
  ['models/whisper-base', '*.safetensors'],
  ['models/voice-encoder', '**/*.onnx'],
  ['models/pocket/whisper-pocket', '**/*'],
  ['models/pocket/pyannote-segmentation-pocket', '**/*'],
  ['models/pocket/wespeaker-pocket', '**/*'],
] as const

export function isTarget(name: string): name is BuildTarget {
  return Object.hasOwn(machines, name)
}

/**
 * Returns the files that the built program must contain, as a map from the path in the program to the path on this
 * machine. Throws if a file is missing in the project folder. Also throws if no file matches one of the patterns in
 * `modelFiles`, such as `*.onnx` in a model folder.
 */
export function contentsOf(root: string, target: BuildTarget): Map<string, string> {
  const [, cpu] = target.split('-')
  const paths = [
    `native/${target}/steno-media`,
    ...(target === 'linux-x64' ? ['native/linux-x64/libsteno-operators.so'] : []),
    `node_modules/onnxruntime-node/bin/napi-v6/linux/${cpu}/libonnxruntime.so.1`,
    'node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx',
    'test/fixtures/speech/doctor.flac',
    'test/fixtures/speech/doctor.json',
    ...modelFiles.flatMap(([folder, pattern]) => filesIn(root, folder, pattern)),
  ]
  for (const path of paths) if (!existsSync(join(root, path))) throw new Error(`${path} is missing`)
  const files = [...paths.map((path): [string, string] => [path, join(root, path)]), ...cppLibraries(target)]
  return new Map(files.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function filesIn(root: string, folder: string, pattern: string): string[] {
  const files = [...new Bun.Glob(`${folder}/${pattern}`).scanSync(root)]
  if (files.length === 0) throw new Error(`${folder} has no file ${pattern}: run git restore ${folder}`)
  return files
}

/**
 * Finds the C++ libraries that ONNX Runtime needs besides glibc. No npm package contains them, so they come from the
 * building machine or its cross compiler. Leaves out a missing library.
 */
function cppLibraries(target: BuildTarget): [path: string, source: string][] {
  const machine = machines[target]
  const folders = [`/usr/lib/${machine}-linux-gnu`, '/usr/lib64', '/usr/lib', `/usr/${machine}-linux-gnu/lib`]
  return cppNames.flatMap(name => {
    const path = folders.map(folder => join(folder, name)).find(each => isFor(machine, each))
    return path ? [[`lib/${name}`, realpathSync(path)] as [string, string]] : []
  })
}

export const cppNames = ['libgcc_s.so.1', 'libstdc++.so.6']

/** Returns true if the file exists and is made for the processor `machine`. */
function isFor(machine: string, path: string): boolean {
  return existsSync(path) && readFileSync(path).readUInt16LE(18) === machineNumbers[machine]
}
