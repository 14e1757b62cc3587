// A Whisper model: its configuration, its tokenizer and its network.

import { join } from 'node:path'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { openCompact } from './compact.ts'
import { type Facts, readFacts } from './facts.ts'
import type { Network } from './network.ts'
import { openPublished, type PublishedVariant } from './published.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

/** The suffix of a variant in the published layout, or `compact` for the compact form. */
export type Variant = PublishedVariant | 'compact'

export type Whisper = Network & { facts: Facts; tokenizer: Tokenizer; device: Device }

export async function openWhisper(
  runtime: Runtime,
  folder: string,
  { device, variant }: { device: Device; variant: Variant },
): Promise<Whisper> {
  const json = async (name: string) => JSON.parse(await Bun.file(join(folder, name)).text())
  const tokenizer = readTokenizer(await Bun.file(join(folder, 'tokenizer.json')).text())
  const facts = readFacts(await json('config.json'), await json('generation_config.json'), tokenizer)
  const network =
    variant === 'compact'
      ? openCompact(runtime, folder, facts)
      : openPublished(runtime, folder, facts, { device, variant })
  return { facts, tokenizer, device, ...network }
}

/**
 * Returns the codes of the languages that the model supports. A model without language tokens supports only English.
 */
export function languagesOf({ facts }: Whisper): string[] {
  return facts.languages.size === 0 ? ['en'] : [...facts.languages.keys()]
}
