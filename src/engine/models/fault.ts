// Checks the files of a model's folder before a process tries to load the model.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compactFile } from '../network/compact.ts'
import { type FramewiseKind, framewiseKind, missingFramewiseFile } from './framewise-layout.ts'
import { pointerFault } from './git-lfs.ts'
import { isCompact, jsonFiles, missingWeights, namesIn } from './layout.ts'
import { isLock, lockName } from './lock.ts'

/** Returns an error message about the first fault in a model's folder, or null. */
export function faultOf(folder: string): string | null {
  const kind = framewiseKind(folder)
  return (kind === null ? whisperFault(folder) : framewiseFault(folder, kind)) ?? damagedFile(folder)
}

function framewiseFault(folder: string, kind: FramewiseKind): string | null {
  const config = join(folder, 'config.json')
  const isDamaged = kind === 'tdt' && existsSync(config) && readObject(config) === null
  return missingFramewiseFile(folder, kind) ?? (isDamaged ? notAnObject(config) : null)
}

function whisperFault(folder: string): string | null {
  for (const name of jsonFiles) {
    const path = join(folder, name)
    if (!existsSync(path)) return `${path} is missing`
    const fault = pointerFault(path) ?? jsonFault(path)
    if (fault !== null) return fault
  }
  const [missing] = missingWeights(folder)
  if (missing !== undefined) return `${join(folder, 'onnx', `${missing}.onnx`)} is missing, in every variant`
  return null
}

function jsonFault(path: string): string | null {
  const name = basename(path)
  if (name === 'tokenizer.json') return tokenizerFault(path)
  const content = readObject(path)
  if (content === null) return notAnObject(path)
  if (name === 'config.json' && content.model_type !== 'whisper')
    return `${path} is of a model of type ${content.model_type}, not whisper`
  return null
}

/**
 * Returns an error message if a tokenizer file is cut off or has no vocabulary, and otherwise null. Does not parse the
 * file: parsing its 2 MB of JSON would take a sixth of the CPU time of the server's start.
 */
function tokenizerFault(path: string): string | null {
  const text = readFileSync(path, 'latin1').trim()
  if (!text.startsWith('{') || !text.endsWith('}')) return notAnObject(path)
  return text.includes('"model"') ? null : `${path} has no vocabulary`
}

function notAnObject(path: string): string {
  return `${path} is not JSON, or not an object`
}

/**
 * Returns an error message about the first damaged file of a model, or null. A damaged file is missing or empty, or has
 * another size than in `steno-lock.json`. Ignores a damaged `steno-lock.json`, which `steno models verify` reports.
 */
function damagedFile(folder: string): string | null {
  const lock = readObject(join(folder, lockName))
  const sizes = new Map((isLock(lock) ? lock.files : []).map(({ path, size }) => [path, size]))
  const compact = isCompact(folder) ? [compactFile] : []
  const published = namesIn(join(folder, 'onnx')).map(name => `onnx/${name}`)
  const graphs = [...published, ...namesIn(folder).filter(name => name.endsWith('.onnx'))]
  const paths = new Set([...sizes.keys(), ...compact, ...graphs])
  for (const path of paths) {
    const size = statSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0
    const expected = sizes.get(path) ?? size
    if (size === 0) return `${join(folder, path)} is empty or missing`
    if (size !== expected) return `${join(folder, path)} has ${size} bytes instead of ${expected}`
  }
  return null
}

function readObject(path: string): Record<string, unknown> | null {
  if (!existsSync(path)) return null
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(content) ? content : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
