// Examples for the OpenAPI document, by the names of the schemas. All examples are about the same job.

const id = '0199a0c5-5a0e-7cc2-8d7e-6f5f0a3c2b11'
const uploadId = '0199a0c4-11f0-7b5d-9a5b-0d3f3c1a7e42'
const createdAt = '2026-03-02T09:30:00.000Z'
const text = 'Good morning, Ann.'

const utterance = {
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

const result = {
  full_transcript: text,
  language: 'en',
  duration_seconds: 61.5,
  speakers: ['SPEAKER 1'],
  utterances: [utterance],
  model: 'base',
  warnings: [],
}

const job = {
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
  cost_cents: 0.5,
  progress: 'Done',
  progress_percent: 100,
  created_at: createdAt,
  started_at: '2026-03-02T09:30:01.000Z',
  completed_at: '2026-03-02T09:30:07.000Z',
  edited_at: null,
}

const voice = {
  id: uploadId,
  name: 'Ann',
  model: 'voice-encoder',
  speech_seconds: 28.4,
  created_at: createdAt,
  used_at: createdAt,
}

const delivery = {
  id: '17',
  transcription_id: id,
  event: 'transcription.completed',
  url: 'https://example.org/hook',
  status: 'pending',
  attempts: 1,
  last_outcome: 'timeout',
  response_status: null,
  created_at: createdAt,
  last_attempt_at: createdAt,
  next_attempt_at: '2026-03-02T09:35:00.000Z',
}

const cancelled = { code: 'CANCELLED', message: 'The transcription was cancelled.' }

export const examples: Record<string, object> = {
  AccountRequest: { email: 'ann@example.org', password: 'a long sentence' },
  PendingAccount: {
    status: 'pending_verification',
    email: 'ann@example.org',
    message: 'Follow the link in the mail.',
  },
  Balance: {
    balance_cents: 1000,
    reserved_cents: 0.5,
    available_cents: 999.5,
    price_per_hour_cents: 30,
    estimated_hours_available: 33.3,
    deposit_url: 'https://steno.example.org/docs#deposits',
    updated_at: createdAt,
  },
  UploadRequest: { filename: 'talk.mp3' },
  Upload: {
    upload_id: uploadId,
    upload_url: `https://steno.example.org/v1/upload/${uploadId}?expires=1772443800000&signature=6f1e`,
    expires_in: 86_400,
    method: 'PUT',
    headers: { 'Content-Type': 'audio/mpeg' },
  },
  Stored: { upload_id: uploadId, file_size_bytes: 983_112 },
  TranscribeRequest: { upload_id: uploadId, language: 'en', diarize: true },
  Accepted: { id, status: 'created', message: `Accepted. Ask GET /v1/transcribe/${id} how it goes.` },
  Transcription: { ...job, result },
  TranscriptionPage: { items: [job], next_cursor: null },
  Cancelled: { id, status: 'failed', error: cancelled, released_cents: 0.5 },
  EditRequest: { utterances: [{ index: 0, text }], speakers: { 'SPEAKER 1': 'Ben' } },
  EditedTranscription: { id, edited_at: createdAt, utterances: [{ ...utterance, index: 0 }] },
  SearchPage: {
    items: [
      {
        transcription_id: id,
        filename: 'talk.mp3',
        created_at: createdAt,
        utterance: 0,
        start: 0.32,
        end: 1.48,
        speaker: 'SPEAKER 1',
        text,
        matches: [{ from: 5, to: 12, start: 0.56, end: 1.02 }],
      },
    ],
    next_cursor: null,
  },
  VoiceRequest: { name: 'Ann', transcription_id: id, speaker: 'SPEAKER 1' },
  Voice: voice,
  Voices: { items: [voice] },
  Delivery: delivery,
  Deliveries: { items: [delivery] },
  SegmentEvent: { index: 0, ...utterance, speaker: null },
  ProcessingEvent: {
    event: 'transcription.processing',
    transcription_id: id,
    metadata: {},
    status: 'processing',
    duration_seconds: 61.5,
    cost_cents: 0.5,
  },
  CompletedEvent: {
    event: 'transcription.completed',
    transcription_id: id,
    metadata: {},
    status: 'completed',
    duration_seconds: 61.5,
    cost_cents: 0.5,
    result,
  },
  FailedEvent: {
    event: 'transcription.failed',
    transcription_id: id,
    metadata: {},
    status: 'failed',
    error: cancelled,
  },
  Error: {
    error: {
      code: 'TRANSCRIPTION_NOT_FOUND',
      message: 'There is no such transcription.',
      docs_url: 'https://steno.example.org/docs#TRANSCRIPTION_NOT_FOUND',
    },
  },
  OpenAiTranscription: {
    text,
    languages: [{ code: 'en' }],
    usage: { type: 'duration', seconds: 61 },
  },
  OpenAiModelList: {
    object: 'list',
    data: [{ id: 'whisper-1', object: 'model', created: 1_772_443_800, owned_by: 'steno' }],
  },
  OpenAiModel: { id: 'whisper-1', object: 'model', created: 1_772_443_800, owned_by: 'steno' },
  OpenAiError: {
    error: {
      message: "Missing required parameter: 'file'.",
      type: 'invalid_request_error',
      param: 'file',
      code: 'missing_required_parameter',
    },
  },
  Health: { status: 'ok' },
  Readiness: {
    ready: true,
    database: true,
    engine: { ready: true, message: 'ready', model: 'base', device: 'cpu', diarization: 'ready' },
  },
}
