import type { JobRequest } from '../../src/jobs/job.ts'

/** Returns the request for a job without special choices. The fields in `own` replace those of the plain job. */
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
