// A Whisper model: its configuration, its tokenizer and its network.

import { join } from 'node:path'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { type Facts, readFacts } from './facts.ts'
import type { Network } from './network.ts'
import { openPublished, type Variant } from './published.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

export type Whisper = Network & { facts: Facts; tokenizer: Tokenizer; device: Device }

export async function openWhisper(
  runtime: Runtime,
  folder: string,
  { device, variant }: { device: Device; variant: Variant },
): Promise<Whisper> {
  const json = async (name: string) => JSON.parse(await Bun.file(join(folder, name)).text())
  const tokenizer = readTokenizer(await Bun.file(join(folder, 'tokenizer.json')).text())
  const facts = readFacts(await json('config.json'), await json('generation_config.json'), tokenizer)
  return { facts, tokenizer, device, ...openPublished(runtime, folder, facts, { device, variant }) }
}
