// The interface for the inspection of media files.

export type Inspection = {
  /**
   * FFmpeg's name of the container format. If FFmpeg has several names, such as `mov,mp4,m4a,3gp,3g2,mj2`, the value is
   * the first name.
   */
  container: string
  codec: string
  sampleRate: number
  channels: number
  /**
   * The duration of the audio in milliseconds, rounded down. It is measured from the audio packets, because the header
   * of the file can be wrong.
   */
  durationMs: number
}

export type Media = {
  /**
   * Inspects the media file at `path`. Rejects with a JobFailure if the file is refused (INVALID_MEDIA_FORMAT or
   * DURATION_TOO_LONG) or cannot be inspected (PROCESSING_ERROR or INTERNAL_ERROR). If `signal` is aborted, rejects
   * with the reason of the signal.
   */
  inspect(path: string, options: { signal: AbortSignal }): Promise<Inspection>
}
