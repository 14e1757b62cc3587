// Runs Whisper with transformers.js, in a process of its own, as the reference for tests. Writes the log-mel spectrogram
// of the sound file FILE to FILE.mel. Prints the token ids of the text that Whisper recognises in the file.

import { basename, dirname } from 'node:path'
import {
  AutoFeatureExtractor,
  env,
  type Tensor,
  WhisperForConditionalGeneration,
} from '@huggingface/transformers'

export type TransformersOrder = { folder: string; language: string; sound: string }
/** The token ids of the text, with the prompt and the end-of-text token. */
export type TransformersAnswer = { ids: number[] }

if (import.meta.main) console.log(JSON.stringify(await hear(JSON.parse(process.argv[2] ?? ''))))

async function hear({ folder, language, sound }: TransformersOrder): Promise<TransformersAnswer> {
  env.allowRemoteModels = false
  env.localModelPath = dirname(folder)
  const extract = await AutoFeatureExtractor.from_pretrained(basename(folder))
  const model = await WhisperForConditionalGeneration.from_pretrained(basename(folder), {
    dtype: 'fp32',
    session_options: { intraOpNumThreads: 1, executionMode: 'sequential' },
  })
  const samples = new Float32Array(await Bun.file(sound).arrayBuffer())
  const { input_features } = (await extract(samples)) as { input_features: Tensor }
  await Bun.write(`${sound}.mel`, input_features.data as Float32Array)
  const written = await model.generate({
    inputs: input_features,
    generation_config: { language, task: 'transcribe', return_timestamps: true } as never,
  })
  const [row] = (written as Tensor).tolist() as (number | bigint)[][]
  return { ids: (row ?? []).map(Number) }
}
