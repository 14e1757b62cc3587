// A fake engine that a test controls. Each job runs until the test ends it or its signal is aborted.

import type { Engine, EngineState } from '../../src/engine/engine.ts'
import type { TranscribeInput, TranscribeOptions } from '../../src/engine/request.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'

type Task = {
  input: TranscribeInput
  options: TranscribeOptions
  resolve: (transcript: Transcript) => void
  reject: (error: unknown) => void
}

export type SteeredEngine = Engine & {
  /** All jobs that the engine has received, oldest first. Ended jobs stay in the list. */
  tasks: Task[]
  state: () => EngineState
  setReady(ready: boolean): void
  /** Waits until the engine has received `count` jobs since its start. Returns the task of the last of these jobs. */
  given(count: number): Promise<Task>
  /** Completes the job of `task` with a transcript that contains `text`. */
  finish(task: Task, text?: string): void
}

export function steeredEngine({ capacity = 1 }: { capacity?: number } = {}): SteeredEngine {
  const tasks: Task[] = []
  const waiting: { count: number; resolve: (task: Task) => void }[] = []
  const listeners: (() => void)[] = []
  let ready = true

  return {
    capacity,
    tasks,
    state: () => ({
      ready,
      message: ready ? 'steered by a test' : 'not yet',
      model: 'steered',
      device: 'none',
      diarization: 'ready',
    }),
    languages: () => ['en', 'de', 'jw'],
    translates: () => true,
    onReady: listener => void listeners.push(listener),
    setReady: now => {
      const becameReady = now && !ready
      ready = now
      if (becameReady) for (const listener of listeners) listener()
    },
    transcribe(input, options) {
      return new Promise((resolve, reject) => {
        tasks.push({ input, options, resolve, reject })
        options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true })
        for (const waiter of waiting) {
          const task = tasks[waiter.count - 1]
          if (task) waiter.resolve(task)
        }
      })
    },
    given: count =>
      new Promise(resolve => {
        const task = tasks[count - 1]
        if (task) resolve(task)
        else waiting.push({ count, resolve })
      }),
    finish: (task, text = 'Good morning.') => task.resolve(transcriptOf(task.input, text)),
    close: async () => {},
  }
}

type InputFacts = Pick<TranscribeInput, 'durationMs' | 'diarize' | 'align' | 'language'>

/**
 * Returns a transcript with one utterance. If `align` is true, the words of `text` are spread evenly over the duration
 * of the input.
 */
export function transcriptOf({ durationMs, diarize, align, language }: InputFacts, text: string): Transcript {
  const speaker = diarize ? 'SPEAKER 1' : null
  const spoken = text.split(' ')
  const words = spoken.map((word, at) => ({
    word,
    start: (durationMs / 1000) * (at / spoken.length),
    end: (durationMs / 1000) * ((at + 1) / spoken.length),
    confidence: 0.9,
    ...(speaker ? { speaker } : {}),
  }))
  return {
    full_transcript: text,
    language: language ?? 'en',
    duration_seconds: durationMs / 1000,
    speakers: speaker ? [speaker] : null,
    utterances: [
      { start: 0, end: durationMs / 1000, text, speaker, confidence: 0.9, words: align ? words : [] },
    ],
  }
}
