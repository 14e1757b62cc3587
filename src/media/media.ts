// What the rest of the program knows of a media file. The work is done in a child process (media/child).

export type Inspection = {
  /** FFmpeg's short name of the container, `mov,mp4,m4a,3gp,3g2,mj2` reduced to its first word. */
  container: string
  codec: string
  sampleRate: number
  channels: number
  /** Exact: packets are counted where the header is silent or wrong. */
  durationMs: number
}

export type Media = {
  /** Rejects with a JobFailure (INVALID_MEDIA_FORMAT, DURATION_TOO_LONG, PROCESSING_ERROR) or the signal's reason. */
  inspect(path: string, options: { signal: AbortSignal }): Promise<Inspection>
}
