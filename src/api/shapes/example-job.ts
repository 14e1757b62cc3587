// The example job in the OpenAPI document, with its upload, result, enrolled voice and webhook delivery.

export const id = '0199a0c5-5a0e-7cc2-8d7e-6f5f0a3c2b11'
export const uploadId = '0199a0c4-11f0-7b5d-9a5b-0d3f3c1a7e42'
export const createdAt = '2026-03-02T09:30:00.000Z'
const completedAt = '2026-03-02T09:30:07.000Z'
export const text = 'Good morning, Ann.'
export const pricePerHourCents = 30
/** The cost of the job, which has 61 whole seconds of audio. */
export const costCents = (61 * pricePerHourCents) / 3600

export const utterance = {
  start: 0.32,
  end: 1.48,
  text,
  speaker: 'SPEAKER 1',
  confidence: 0.94,
  words: [
    { word: 'Good', start: 0.32, end: 0.56, confidence: 0.97, speaker: 'SPEAKER 1' },
    { word: 'morning,', start: 0.56, end: 1.02, confidence: 0.95, speaker: 'SPEAKER 1' },
    { word: 'Ann.', start: 1.1, end: 1.48, confidence: 0.9, speaker: 'SPEAKER 1' },
  ],
}

export const result = {
  full_transcript: text,
  language: 'en',
  duration_seconds: 61.5,
  speakers: ['SPEAKER 1'],
  utterances: [utterance],
  model: 'base',
  warnings: [],
}

export const job = {
  id,
  status: 'completed',
  audio_duration_seconds: 61,
  file_size_bytes: 983_112,
  filename: 'talk.mp3',
  metadata: {},
  language: 'en',
  diarize: true,
  speaker_count: null,
  name_speakers: false,
  align: true,
  channels: 'mix',
  cost_cents: costCents,
  progress: 'Done',
  progress_percent: 100,
  created_at: createdAt,
  started_at: '2026-03-02T09:30:01.000Z',
  completed_at: completedAt,
  edited_at: null,
}

export const voice = {
  id: uploadId,
  name: 'Ann',
  model: 'voice-encoder',
  speech_seconds: 28.4,
  created_at: createdAt,
  used_at: createdAt,
}

export const delivery = {
  id: `${id}.completed`,
  transcription_id: id,
  event: 'transcription.completed',
  url: 'https://example.org/hook',
  status: 'pending',
  attempts: 1,
  last_outcome: 'timeout',
  response_status: null,
  created_at: completedAt,
  last_attempt_at: completedAt,
  next_attempt_at: '2026-03-02T09:34:17.000Z',
}

export const cancelled = { code: 'CANCELLED', message: 'The transcription was cancelled.' }
