// Opens a Whisper model: its configuration, its tokenizer and its network.

import { join } from 'node:path'
import { firstLineOf } from '../../base/reason.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { openCompact } from './compact.ts'
import { openDevice } from './device.ts'
import { type Facts, readFacts } from './facts.ts'
import type { Network } from './network.ts'
import { openPublished, type PublishedVariant } from './published.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

/**
 * The number format of the weights: a suffix of the ONNX weight files (such as `_fp16`), or `compact` for steno's 8-bit
 * weights.
 */
export type Variant = PublishedVariant | 'compact'

export type Whisper = Network & { facts: Facts; tokenizer: Tokenizer; device: Device }

export type WhisperOptions = {
  device: Device
  variant: Variant
  /** A list to which a message for the operator is added if a faster form of the model cannot be used. */
  notes?: string[]
}

export async function openWhisper(
  runtime: Runtime,
  folder: string,
  { device, variant, notes = [] }: WhisperOptions,
): Promise<Whisper> {
  const json = async (name: string) => JSON.parse(await Bun.file(join(folder, name)).text())
  const tokenizer = await openTokenizer(join(folder, 'tokenizer.json'))
  const facts = readFacts(await json('config.json'), await json('generation_config.json'), tokenizer)
  const network =
    variant === 'compact'
      ? openCompact(runtime, folder, facts)
      : openFastest(runtime, folder, facts, { device, variant, notes })
  return { facts, tokenizer, device, ...network }
}

/** Reads a tokenizer. If the file cannot be read, the error message contains the path of the file. */
async function openTokenizer(path: string): Promise<Tokenizer> {
  try {
    return readTokenizer(await Bun.file(path).text())
  } catch (error) {
    throw new Error(`${path} cannot be read: ${firstLineOf(error)}`)
  }
}

/**
 * Returns the codes of the languages that the model supports. A model without language tokens supports only English.
 */
export function languagesOf({ facts }: Whisper): string[] {
  return facts.languages.size === 0 ? ['en'] : [...facts.languages.keys()]
}

/**
 * Opens a model in the layout that onnx-community publishes. With float weights on an NVIDIA GPU, uses steno's graphs
 * for GPUs, which keep the caches in the memory of the GPU. In other cases, or after an error, uses the ONNX graphs of
 * the model, which are slower on a GPU: they copy the caches to the host at each token.
 */
function openFastest(
  runtime: Runtime,
  folder: string,
  facts: Facts,
  { device, variant, notes }: { device: Device; variant: PublishedVariant; notes: string[] },
): Network {
  if (device === 'cuda' && (variant === '' || variant === '_fp16')) {
    try {
      return openDevice(runtime, folder, facts, { device, variant, notes })
    } catch (error) {
      notes.push(`the decoder for GPUs cannot be used: ${firstLineOf(error)}`)
    }
  }
  return openPublished(runtime, folder, facts, { device, variant })
}
