// Names the speakers of a transcript. If the voice of a speaker is similar to an enrolled voice, the name of the
// enrolled voice replaces the speaker's label. The recording is read again, because the spans of the speakers are known
// only after the transcription.

import type { Transcript } from '../transcripts/transcript.ts'
import type { LoadedModels } from './loaded-models.ts'
import { type KnownVoice, namesOf } from './who/known-voices.ts'
import { printsOf } from './who/prints.ts'
import { longestSpans, spansOf } from './who/sound-spans.ts'

/**
 * Returns the transcript with names instead of labels for the speakers whose voices are in `known`. Adds a warning if a
 * known voice cannot be compared, because it was enrolled with another voice model.
 */
export async function nameSpeakers(
  voices: LoadedModels['voices'],
  transcript: Transcript,
  known: readonly KnownVoice[],
  open: () => AsyncIterable<Float32Array>,
): Promise<Transcript> {
  const labels = transcript.speakers ?? []
  if (known.length === 0 || labels.length === 0 || 'problem' in voices) return transcript
  const comparable = known.filter(({ model }) => model === voices.name)
  const warned = comparable.length < known.length ? withWarning(transcript, known, comparable) : transcript
  if (comparable.length === 0) return warned
  const groups = labels.map(label =>
    longestSpans(spansOf(transcript.utterances.filter(({ speaker }) => speaker === label))),
  )
  const prints = await printsOf(voices.embedder, open(), groups)
  const names = namesOf(prints, comparable, voices.profile.sameVoice)
  return rename(warned, new Map(labels.map((label, index) => [label, names[index] ?? label])))
}

function withWarning(
  { warnings = [], ...transcript }: Transcript,
  known: readonly KnownVoice[],
  comparable: readonly KnownVoice[],
): Transcript {
  const names = known.filter(voice => !comparable.includes(voice)).map(({ name }) => name)
  const warning = `These voices were enrolled with another voice model and were not compared: ${names.join(', ')}. Enrol them again.`
  return { ...transcript, warnings: [...warnings, warning] }
}

function rename(transcript: Transcript, names: ReadonlyMap<string, string>): Transcript {
  const nameOf = (label: string) => names.get(label) ?? label
  return {
    ...transcript,
    speakers: (transcript.speakers ?? []).map(nameOf),
    utterances: transcript.utterances.map(({ speaker, words, ...utterance }) => ({
      ...utterance,
      speaker: speaker === null ? null : nameOf(speaker),
      words: words.map(word =>
        word.speaker === undefined ? word : { ...word, speaker: nameOf(word.speaker) },
      ),
    })),
  }
}
