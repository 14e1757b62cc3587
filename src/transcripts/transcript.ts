// What the engine makes and the service keeps: the Result of the API.

export type Word = {
  word: string
  start: number
  end: number
  confidence: number | null
  /** Absent when the job was not diarized. */
  speaker?: string
}

export type Utterance = {
  start: number
  end: number
  text: string
  speaker: string | null
  confidence: number | null
  words: Word[]
}

export type Transcript = {
  full_transcript: string
  language: string
  duration_seconds: number
  speakers: string[] | null
  utterances: Utterance[]
}
