// The built-in clip of speech, which `steno doctor` transcribes.

import { editDistance } from '../../base/edit-distance.ts'
import type { Config } from '../../config.ts'
import type { OneShotEngine } from '../../engine/once.ts'
import { builtInClip } from '../../engine/onnx/library.ts'
import { openMedia } from '../../media/inspect.ts'
import type { Transcript } from '../../transcripts/transcript.ts'

type Clip = { path: string; text: string }

export async function doctorClip(): Promise<Clip> {
  const clip = builtInClip()
  if (clip === null) throw new Error('this build carries no clip')
  return { path: clip.sound, text: ((await Bun.file(clip.truth).json()) as { text: string }).text }
}

/**
 * Transcribes the built-in clip. Returns the transcript, and in the additional field `text` the words that are really
 * spoken.
 */
export async function hearClip(
  engine: OneShotEngine,
  config: Config,
  { diarize }: { diarize: boolean },
): Promise<Transcript & { text: string }> {
  const { path, text } = await doctorClip()
  const { signal } = new AbortController()
  const { durationMs } = await openMedia(config).inspect(path, { signal })
  const transcript = await engine.transcribe(
    {
      path,
      durationMs,
      language: null,
      diarize,
      speakerCount: null,
      align: true,
      prompt: null,
      vocabulary: [],
    },
    { signal, onSeconds: () => {} },
  )
  return { ...transcript, text }
}

/**
 * Returns the word error rate of `heard`: the number of word errors divided by the number of words in the reference
 * `truth`. Ignores case and punctuation.
 */
export function wordErrorRate(truth: string, heard: string): number {
  return editDistance(plainWords(truth), plainWords(heard)) / plainWords(truth).length
}

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
