// The interface to media files. A child process does the work (media/child).

export type Inspection = {
  /** FFmpeg's short name; the first one if there are synonyms, as in `mov,mp4,m4a,3gp,3g2,mj2`. */
  container: string
  codec: string
  sampleRate: number
  channels: number
  /** Exact and rounded down. It is measured from the packets, not read from a header. */
  durationMs: number
}

export type Media = {
  /** Rejects with a JobFailure (INVALID_MEDIA_FORMAT, DURATION_TOO_LONG, PROCESSING_ERROR) or the signal's reason. */
  inspect(path: string, options: { signal: AbortSignal }): Promise<Inspection>
}
