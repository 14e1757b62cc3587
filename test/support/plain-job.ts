import type { JobRequest } from '../../src/jobs/create.ts'

/**
 * Returns a request for a job in which all options have their usual values. The fields in `own` replace these values.
 */
export function plainJob(keyId: string, own: Partial<JobRequest> = {}): JobRequest {
  return {
    keyId,
    sourceUrl: 'https://media.invalid/talk.mp3',
    uploadId: null,
    fileBytes: 16,
    language: null,
    diarize: false,
    speakerCount: null,
    align: true,
    prompt: null,
    vocabulary: [],
    webhookUrl: null,
    ...own,
  }
}
