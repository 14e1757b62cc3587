// Assigns speakers to local voices that have no speaker yet. A local voice is a voice that was found in one view, which
// is ten seconds of the recording. Views overlap, so several views contain the same frame. In each frame in which the
// local voice speaks, the other views give votes: a speaker gets one vote from each view in which this speaker speaks
// in the frame. The speaker with the most votes is assigned.

import type { SegmentedRecording, View } from './segmented-recording.ts'
import { classVoices, localVoices, viewFrames } from './views.ts'

/**
 * Returns the view (ten seconds of sound) with the index `index`, and its neighbours. The neighbours include all views
 * that overlap with this view. Each view is returned together with its own index.
 */
function viewsAround({ views, stepFrames }: SegmentedRecording, index: number): [number, View][] {
  const reach = Math.ceil(viewFrames / stepFrames)
  const first = Math.max(0, index - reach)
  return views.slice(first, index + reach + 1).map((view, at) => [first + at, view])
}

/**
 * Returns the views of the recording, with speakers for the voices whose speaker is unknown. A view is ten seconds of
 * sound, and other views contain parts of the same sound. In each frame in which such a voice speaks, each other view
 * gives one vote to each speaker who speaks in the frame. The speaker with the most votes is assigned. Speakers of
 * other voices of the same view get no votes. If there are no votes, the speaker stays unknown.
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
      // Two voices of the same view (ten seconds of sound) are two different persons. So the votes for a speaker who is
      // already assigned to another voice of this view are set to 0.
      for (const speaker of speakers) if (speaker >= 0) votes[speaker] = 0
      const most = votes.indexOf(Math.max(...votes))
      if (votes[most]! > 0) speakers[local] = most
    }
    return { classes: view.classes, speakers }
  })
}

/**
 * Adds votes that show which speaker a voice is. The voice has the index `local` in `view`, which is ten seconds of
 * sound. `near` is a view that overlaps with `view`. In each frame in which the voice speaks in `view`, each known
 * speaker who speaks in `near` gets one vote. Frame n of `view` is frame n + `shift` of `near`.
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
