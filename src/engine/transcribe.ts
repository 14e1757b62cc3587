// Transcribes sound block by block, so that ten hours of sound need little more memory than ten minutes. A block is a
// batch of windows (at most 30 s of sound each), which the speech model reads together. `findBlocks` yields the blocks,
// the speech model turns them into words, and `assemble` makes the transcript.

import type { SpeakerTurn, Transcript, Utterance } from '../transcripts/transcript.ts'
import { assemble } from './assemble.ts'
import { wholeMilliseconds } from './audio.ts'
import { OneScript } from './chinese/one-script.ts'
import { findBlocks } from './hear/find-windows.ts'
import type { PlacedText } from './hear/place.ts'
import { Recording } from './hear/recording.ts'
import type { Listener } from './hear/speech-model.ts'
import { JobHearing } from './hearing.ts'
import { type LoadedModels, startDiarization } from './loaded-models.ts'
import type { TranscribeInput } from './request.ts'
import { speechWarnings, type WarnedSpans } from './speech-warnings.ts'
import { UtterancesSoFar } from './utterances-so-far.ts'
import type { Diarization } from './who/diarize.ts'
import { noTurns } from './who/turns.ts'

export type TranscribeListener = Listener & {
  /**
   * Called each time the model has recognised windows, and at the end. `utterances` are the utterances that were
   * completed since the last call, without speakers. The list may be empty. `language` is the language of their texts.
   */
  onUtterances?: (utterances: Utterance[], language: string) => void
  /** Called once at the end, with the turns of the speakers. Without diarization, it is not called. */
  onTurns?: (turns: SpeakerTurn[]) => void
}

/**
 * Transcribes one channel of a recording, or the mix of its channels. `script` chooses simplified or traditional
 * characters for Chinese text. All channels share `script`, so that their texts have the same characters.
 */
export async function transcribe(
  models: LoadedModels,
  sound: AsyncIterable<Float32Array>,
  input: TranscribeInput,
  listener: TranscribeListener,
  script = new OneScript(input),
): Promise<Transcript> {
  const diarization = input.diarize ? startDiarization(models) : null
  const warned: WarnedSpans = { 'text doubtful': [], 'speech without text': [] }
  const collector = collecting(warned, diarization, listener)
  const recording = new Recording()
  const texts: PlacedText[] = []
  const soFar = new UtterancesSoFar(input)
  const hearing = new JobHearing(models, input)
  const blocks = findBlocks(models.vad, heardBy(diarization, sound), recording, {
    rows: hearing.rows,
    isOneOfChannels: (input.channels ?? 1) > 1,
    onSamples: collector.onSamples,
  })
  try {
    for await (const block of blocks) {
      await hearing.choose(block, recording)
      // The block size fits the model that `hearing` had at the start. If the caller gave no language, `choose` may
      // detect the language and change to another model. The new model may take fewer windows at once than a block has.
      for (let at = 0; at < block.length; at += hearing.rows) {
        const windows = block.slice(at, at + hearing.rows)
        const heard = await hearing.hear(windows, recording, collector)
        const unified = await script.unify(heard, hearing.languageOfText)
        texts.push(...unified)
        const read = wholeMilliseconds(recording.length)
        const language = hearing.languageOfText
        listener.onUtterances?.(soFar.add(unified, language, read), language)
      }
    }
  } finally {
    hearing.end()
  }
  const language = hearing.languageOfText
  const samples = wholeMilliseconds(recording.length)
  listener.onUtterances?.(soFar.end(language, samples), language)
  await listener.onSamples(recording.length)
  const hasWords = texts.some(({ text }) => text.trim() !== '')
  const { transcript, turns } = assemble(texts, {
    language,
    samples,
    align: input.align,
    // Diarization can find a voice in music or noise. If the text has no words, each voice that it found is such an
    // error, so there are no turns.
    timeline: diarization && (hasWords ? diarization.finish(input.speakerCount) : noTurns),
  })
  if (diarization) listener.onTurns?.(turns)
  const voiceWarning = diarization && 'warning' in models.voices ? models.voices.warning : null
  return {
    ...transcript,
    model: hearing.model,
    warnings: [
      ...(hearing.warning ? [hearing.warning] : []),
      ...speechWarnings(warned, input.section?.fromMs ?? 0),
      ...(voiceWarning ? [voiceWarning] : []),
    ],
  }
}

/**
 * Returns a listener that passes progress and warnings on to `listener`. Also adds the spans of the warnings to
 * `warned`. If the diarization uses voice readings (the voices that the speech model finds in a window), passes them to
 * the diarization.
 */
function collecting(warned: WarnedSpans, diarization: Diarization | null, listener: Listener): Listener {
  return {
    onSamples: samples => listener.onSamples(samples),
    onWarning(kind, span) {
      warned[kind].push(span)
      listener.onWarning(kind, span)
    },
    onVoiceReading: diarization?.usesVoiceReadings
      ? ({ pieces }, reading) => diarization.addVoiceReading(pieces, reading)
      : null,
  }
}

/** Yields the sound unchanged, and also passes this sound to the diarization, if there is one. */
async function* heardBy(
  diarization: Diarization | null,
  sound: AsyncIterable<Float32Array>,
): AsyncGenerator<Float32Array> {
  for await (const part of sound) {
    diarization?.add(part)
    yield part
  }
}
