// Measures the clustering of voices without the other parts of diarization. The input is the embeddings of a real
// meeting with four speakers, from the example data of the repository BUTSpeechFIT/VBx. The embeddings are x-vectors.
// Each x-vector covers 1.44 s of sound, and a new one begins every 0.24 s. A model for probabilistic linear
// discriminant analysis (PLDA) projects the x-vectors. The projection removes most differences between x-vectors of one
// voice.
//
// The row `oracle` shows a clustering without errors: each embedding gets the speaker of the segment that overlaps its
// span most. The remaining errors of this row have other causes, such as overlapping speech. The 0.25 s around each
// start and end of a reference segment (the collar) are not scored.

import { findVoices } from '../../src/engine/who/cluster.ts'
import { findVoicesByVbx } from '../../src/engine/who/vbx-voices.ts'
import { firstOf } from '../../test/support/engine-room.ts'
import { type Segment, score } from './support/der.ts'
import { readMeeting, segmentsOf } from './support/meeting.ts'

export const bench = { name: 'diarization: clustering a real meeting', run }

/**
 * The thresholds with which the two clusterings, linkage and VBx, are measured. They suit only the embeddings of this
 * benchmark: each embedding model needs its own threshold.
 */
const thresholds = [0.7, 0.75, 0.78, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.95]
/**
 * VBx (a clustering by variational Bayes) starts from the clusters of a first clustering. VBx can remove clusters, but
 * cannot add any. So the first clustering should find too many clusters, and a lower threshold gives more clusters.
 * Therefore, the threshold of the first clustering is only `startShare` times an element of `thresholds` (the
 * thresholds to measure).
 */
const startShare = 0.75

async function run(): Promise<string[][]> {
  const rows = [['clustering', 'threshold', 'speakers', 'DER %', 'confused %', 'JER %']]
  const folder = firstOf('../shared/audio/vbx-es2005a')
  if (!folder) return [...rows, ['-', '-', 'skipped: the embeddings of the meeting are not here']]
  const meeting = await readMeeting(folder)
  const { truth, spans, plda } = meeting
  const vectors = meeting.vectors.map(vector => plda.project(vector))
  const embeddings = vectors.map(vector => ({ vector, weight: 1 }))
  const row = (name: string, threshold: string, segments: readonly Segment[]) => {
    const { rate, confused, speech, jaccard } = score(truth, segments)
    const shares = [rate, confused / speech, jaccard].map(share => (100 * share).toFixed(1))
    return [name, threshold, `${new Set(segments.map(({ speaker }) => speaker)).size} of 4`, ...shares]
  }
  for (const threshold of thresholds) {
    const voices = findVoices(embeddings, { threshold, mergeBelow: null, weightMin: 20, expected: null })
    rows.push(row('linkage', threshold.toFixed(2), segmentsOf(meeting, vectors, voices)))
  }
  for (const threshold of thresholds) {
    const voices = findVoicesByVbx(embeddings, plda, { start: startShare * threshold, weightMin: 20 })
    rows.push(row('VBx', threshold.toFixed(2), segmentsOf(meeting, vectors, voices)))
  }
  const speakers = [...new Set(truth.map(({ speaker }) => speaker))]
  const axes = speakers.map((_, axis) => Float32Array.from(speakers, (_, at) => Number(at === axis)))
  const main = spans.map(span => axes[speakers.indexOf(mainSpeaker(truth, span))] ?? new Float32Array(4))
  rows.push(row('oracle', '', segmentsOf(meeting, main, axes)))
  return rows
}

function mainSpeaker(truth: readonly Segment[], [from, to]: [number, number]): string {
  const shared = (segment: Segment) => Math.min(segment.to, to) - Math.max(segment.from, from)
  return truth.toSorted((one, other) => shared(other) - shared(one))[0]?.speaker ?? ''
}
