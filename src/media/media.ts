// The interface for the inspection of media files. A child process (native/media) reads the media file.

export type Inspection = {
  /**
   * FFmpeg's name of the file's container format. FFmpeg has several names for some formats, such as
   * `mov,mp4,m4a,3gp,3g2,mj2`; the first name is used.
   */
  container: string
  codec: string
  sampleRate: number
  channels: number
  /**
   * The duration of the audio in milliseconds, rounded down. The duration is measured from the audio packets, because
   * the duration in the header of the file can be wrong.
   */
  durationMs: number
}

export type Media = {
  /**
   * Inspects the media file at `path`. Rejects with a JobFailure if the file is refused (INVALID_MEDIA_FORMAT or
   * DURATION_TOO_LONG), or if it cannot be inspected (PROCESSING_ERROR or INTERNAL_ERROR). If `signal` is aborted,
   * rejects with the reason of the signal.
   */
  inspect(path: string, options: { signal: AbortSignal }): Promise<Inspection>
}
