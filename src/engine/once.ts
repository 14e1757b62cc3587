// The engine of a command such as `steno transcribe`. It has a single child process, which may run several jobs at the
// same time. The engine does not retry jobs. An abort kills the child process.

import type { Engine } from './engine.ts'
import { prepareModel } from './models/choose.ts'
import type { LoadedFacts } from './protocol.ts'
import { type EngineSettings, Worker } from './worker.ts'

export type OneShotEngine = Pick<Engine, 'transcribe' | 'close'> & LoadedFacts

/**
 * Opens an engine. Without `diarize`, the engine does not load the voice models, and every job with diarization fails.
 */
export async function openOnce(
  settings: EngineSettings,
  onMessage: (message: string) => void,
  { diarize }: { diarize: boolean },
): Promise<OneShotEngine> {
  const chosen = await prepareModel(settings, onMessage)
  const model = diarize ? chosen : { ...chosen, voices: { problem: 'The voice models are not loaded' } }
  const worker = new Worker(model, { ...settings, workers: 1 })
  try {
    const facts = await worker.load()
    return {
      ...facts,
      notes: model.notice === null ? facts.notes : [...facts.notes, model.notice],
      transcribe: (input, options) => worker.run(input, options),
      close: () => worker.kill(),
    }
  } catch (error) {
    await worker.kill()
    throw error
  }
}
