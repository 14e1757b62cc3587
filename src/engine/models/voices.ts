// Chooses the voice models for diarization. Returns their folders, or a message that says how to install them.

import { join } from 'node:path'
import { findCarried } from '../../base/carried.ts'
import { findBuiltIn, models, type VoiceProfile } from './catalogue.ts'
import { isInstalledVoice, missingVoiceModels } from './installed-voices.ts'
import { builtInVoices, publishedPlda, publishedVoices, testVoices } from './roles.ts'

export type VoiceFiles = {
  /** The path of the folder of the segmentation model. */
  segmentation: string
  /** The path of the folder of the embedding model. */
  embedding: string
  /**
   * The path of the folder of the PLDA model (probabilistic linear discriminant analysis). Null if no PLDA model is
   * installed for the embedding model.
   */
  plda: string | null
  /** The parameters with which embeddings are computed and compared. */
  profile: VoiceProfile
  /**
   * A warning for transcripts with speakers: only the small built-in voice models are installed. Null if other voice
   * models are used, or if the models are used for tests.
   */
  warning: string | null
  /**
   * True for the built-in segmentation model and embedding model, which are small. They run on the CPU, because the
   * 8-bit operations of the segmentation model run only there. Alone, they make many errors in noise. So diarization
   * with them also uses the voice network: a part of the built-in speech model that counts and compares the voices in
   * each window (see hear/voice-network.ts).
   */
  areSmall: boolean
}

/** The chosen voice models. If there are none, `problem` is the message with which each job with diarization fails. */
export type VoiceChoice = VoiceFiles | { problem: string }

/**
 * Chooses the voice models for a speech model. If both voice models for download are in `dir`, they are chosen, and
 * otherwise the built-in voice models. A speech model for tests always uses the voice models for tests.
 */
export function voicesFor(speechModel: string, dir: string): VoiceChoice {
  const forTests = findBuiltIn(speechModel)?.forTests ?? false
  const missing = missingVoiceModels(dir)
  if (!forTests && missing.length === 0)
    return {
      segmentation: join(dir, publishedVoices.segmentation),
      embedding: join(dir, publishedVoices.embedding),
      plda: isInstalledVoice(publishedPlda, dir) ? join(dir, publishedPlda) : null,
      profile: models[publishedVoices.embedding].voices,
      warning: null,
      areSmall: false,
    }
  const carried = findCarriedVoices(forTests ? testVoices : builtInVoices)
  if (carried && forTests) return carried
  const pulls = missing.map(id => `steno models pull ${id}`).join(' && ')
  if (carried) {
    const warning = `The speakers were told apart by small models: run ${pulls} for better ones.`
    return { ...carried, warning, areSmall: true }
  }
  return {
    problem: `The models for telling speakers apart are missing: run ${pulls}, or put their folders beside the other models; then start steno again`,
  }
}

function findCarriedVoices(ids: typeof builtInVoices | typeof testVoices): VoiceFiles | null {
  const segmentation = findCarried(models[ids.segmentation].builtIn)
  const embedding = findCarried(models[ids.embedding].builtIn)
  const profile = models[ids.embedding].voices
  if (!segmentation || !embedding) return null
  return { segmentation, embedding, plda: null, profile, warning: null, areSmall: false }
}
