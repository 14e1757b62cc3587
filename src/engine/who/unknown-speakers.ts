// A view is ten seconds of the recording. The segmentation model numbers the voices of each view anew. Clustering then
// finds out which speaker each voice belongs to, but not for all voices. This file finds the speakers of the other
// voices, by means of the overlapping views.

import type { SegmentedRecording, View } from './segmented-recording.ts'
import { classVoices, localVoices, viewFrames } from './views.ts'

/**
 * Returns the view with the index `index` and the views near this view, each with its own index. All views that overlap
 * with the view `index` are included. A view is ten seconds of sound.
 */
function viewsAround({ views, stepFrames }: SegmentedRecording, index: number): [number, View][] {
  const reach = Math.ceil(viewFrames / stepFrames)
  const first = Math.max(0, index - reach)
  return views.slice(first, index + reach + 1).map((view, at) => [first + at, view])
}

/**
 * Assigns speakers to the voices whose speaker is unknown, and returns all views with their speakers. A view is ten
 * seconds of the recording, and its voices have numbers that count only in this view. A speaker is a person in the
 * whole recording. In each frame in which an unknown voice speaks, each overlapping view gives one vote to each speaker
 * that it finds there. The voice gets the speaker with the most votes. Without votes, its speaker stays unknown.
 */
export function withAllSpeakers(recording: SegmentedRecording): readonly View[] {
  const { views, stepFrames, speakerCount } = recording
  if (speakerCount === 0) return views
  return views.map((view, index) => {
    const speakers = view.speakers.slice()
    for (let local = 0; local < localVoices; local++) {
      if (speakers[local]! >= 0) continue
      const votes = new Int32Array(speakerCount)
      for (const [nearIndex, near] of viewsAround(recording, index))
        if (nearIndex !== index) addVotes(votes, view, local, near, (index - nearIndex) * stepFrames)
      // The voices of one view (ten seconds of the recording) belong to different persons. So a speaker who already has
      // another voice of this view gets no votes for the unknown voice.
      for (const speaker of speakers) if (speaker >= 0) votes[speaker] = 0
      const most = votes.indexOf(Math.max(...votes))
      if (votes[most]! > 0) speakers[local] = most
    }
    return { classes: view.classes, speakers }
  })
}

/**
 * Adds the votes of the view `near` to `votes`. The voice `local` in `view` has no speaker yet, and the votes decide
 * which speaker it gets. Each view is ten seconds of the recording, and the two views overlap. In each frame in which
 * the voice speaks, each speaker who speaks in `near` gets one vote. Voices of `near` without a speaker give no votes.
 * Frame n of `view` is frame n + `shift` of `near`.
 */
function addVotes(votes: Int32Array, view: View, local: number, near: View, shift: number): void {
  for (let frame = Math.max(0, -shift); frame < Math.min(viewFrames, viewFrames - shift); frame++) {
    if (!(classVoices[view.classes[frame]!]! & (1 << local))) continue
    const nearVoices = classVoices[near.classes[frame + shift]!]!
    for (let other = 0; other < localVoices; other++) {
      const speaker = near.speakers[other]!
      if (nearVoices & (1 << other) && speaker >= 0) votes[speaker]!++
    }
  }
}
