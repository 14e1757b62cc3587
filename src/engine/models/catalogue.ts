// The catalogue of known models. A model is built in, or published on the hub of Hugging Face.

import catalogue from '../../../models/catalogue.json'

type ModelFacts = {
  licence: string
  parameters: string
  summary: string
  /**
   * True for a model that is used by tests and by the self-test of `steno doctor`. Transcripts of this model contain a
   * warning. `listModels` leaves out this model.
   */
  forTests?: boolean
}

/** A model that is contained in the program. `builtIn` is the path of its folder in the source tree. */
export type BuiltInModel = ModelFacts & { builtIn: string }
export type PublishedModel = ModelFacts & {
  repository: string
  revision: string
  /**
   * The paths of the files to download: `cpu` for a machine without a GPU, `gpu` for a machine with a GPU. Missing if
   * the files of a model always have the same names, as for Whisper models.
   */
  files?: { cpu: string[]; gpu: string[] }
}

/** The parameters of an embedding model: how its embeddings are computed and compared. */
export type VoiceProfile = {
  /**
   * The features that the embedding model reads: `fbank` is Kaldi's filterbank, and `mel` is the power in mel bands.
   */
  features: string
  /**
   * Two clusters of embeddings are different voices if their mean cosine distance is `threshold` or more. Used only if
   * `mergeBelow` is null, and if no PLDA model (probabilistic linear discriminant analysis) is used.
   */
  threshold: number
  /**
   * After the clustering, two voices are merged if their distance is below a limit. The limit is `mergeBelow`, plus an
   * amount that is larger for voices with little speech. merge-voices.ts computes the distance and the limit. If
   * `mergeBelow` is null, no voices are merged.
   *
   * `mergeBelow` also selects the threshold of the clustering. If `mergeBelow` is a number, this threshold is computed
   * from the recording. If `mergeBelow` is null, the threshold is fixed (see `threshold`).
   */
  mergeBelow: number | null
  /**
   * Two voice prints are of the same person if their dot product is `sameVoice` or more. A wrong name does more harm
   * than a missing name, so the value is high.
   */
  sameVoice: number
}

export type ModelId = keyof typeof catalogue

export const models = catalogue satisfies Record<string, BuiltInModel | PublishedModel>

export function isKnownModel(id: string): id is ModelId {
  return Object.hasOwn(models, id)
}

/** Returns the warnings that every transcript of the model `id` contains. Only a model for tests has a warning. */
export function warningsOf(id: string): string[] {
  return findBuiltIn(id)?.forTests ? [`made by ${id}, a model for tests`] : []
}

/** Returns the entry of the built-in model `id`. Returns null if the model is unknown, or if it must be downloaded. */
export function findBuiltIn(id: string): BuiltInModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'builtIn' in model ? model : null
}

/**
 * Returns the entry of the published model `id`, which is downloaded from Hugging Face. Returns null if the model is
 * unknown or built in.
 */
export function findPublished(id: string): PublishedModel | null {
  const model: BuiltInModel | PublishedModel | null = isKnownModel(id) ? models[id] : null
  return model && 'repository' in model ? model : null
}
