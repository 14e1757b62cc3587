// The second step of a job: recognises the speech in the media. The first step prepares the media.

import { findPrints, markVoicesUsed } from '../accounts/voice.ts'
import { storeAhead } from '../transcripts/store-ahead.ts'
import { completeJob } from './end.ts'
import { requireMedia } from './lost-media.ts'
import { mediaPath } from './media-files.ts'
import { storePeaks } from './peaks.ts'
import { setProgress, throttled, transcribeProgress } from './progress.ts'
import type { End, Work } from './steps.ts'

/** Transcribes the media of a job. The returned function completes the job. */
export async function recognise(work: Work): Promise<End> {
  const { job, signal, db, config, secrets, engine, live } = work
  requireMedia(work)
  const durationMs = job.durationMs ?? 0
  const tell = throttled(progress => {
    setProgress(db, job.id, progress)
    live.changed(job.id)
  })
  let peaks: Uint8Array | null = null
  let { fence } = job
  const transcript = await engine.transcribe(
    {
      path: mediaPath(config.dataDir, job),
      durationMs,
      language: job.language,
      diarize: job.diarize,
      speakerCount: job.speakerCount,
      align: job.align,
      prompt: job.prompt,
      vocabulary: job.vocabulary,
      translate: job.translate,
      channels: job.splitChannels ? job.channelCount : null,
      knownVoices: job.nameSpeakers ? findPrints(db, secrets, job.accountId) : [],
    },
    {
      signal,
      handOver: { jobId: job.id, worker: job.worker, fence, attempts: job.attempts },
      onClaim: claimed => (fence = claimed),
      onSeconds: seconds => tell(transcribeProgress(seconds, durationMs / 1000)),
      onUtterances: (utterances, first, language) => live.heard(job, utterances, first, language),
      onPeaks: measured => (peaks = measured),
    },
  )
  signal.throwIfAborted()
  const stored = await storeAhead(db, job, transcript.utterances, signal)
  return () =>
    db.tx(() => {
      const completed = completeJob(db, job.id, transcript, { fence, stored })
      if (completed && peaks) storePeaks(db, job.id, peaks)
      if (completed && job.nameSpeakers) markVoicesUsed(db, job.accountId, transcript.speakers ?? [])
      return completed
    })
}
