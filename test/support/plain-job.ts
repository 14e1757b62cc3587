import type { JobRequest } from '../../src/jobs/create.ts'
import { plainChoices } from './plain-input.ts'

/** Returns a request for a job with the usual options. `own` replaces some of its fields. */
export function plainJob(keyId: string, own: Partial<JobRequest> = {}): JobRequest {
  return {
    ...plainChoices,
    keyId,
    sourceUrl: 'https://media.invalid/talk.mp3',
    uploadId: null,
    fileBytes: 16,
    webhookUrl: null,
    ...own,
  }
}
