// The interface for inspecting media files. A child process (native/media) reads the files.

export type Inspection = {
  /**
   * FFmpeg's name of the container. If FFmpeg has several names for it, such as `mov,mp4,m4a,3gp,3g2,mj2`, this is
   * the first one.
   */
  container: string
  codec: string
  sampleRate: number
  channels: number
  /** The duration, rounded down. It is measured from the packets. A header can be wrong. */
  durationMs: number
}

export type Media = {
  /**
   * Rejects with a JobFailure, whose code is INVALID_MEDIA_FORMAT, DURATION_TOO_LONG or PROCESSING_ERROR. If `signal`
   * is aborted, rejects with the reason of the signal.
   */
  inspect(path: string, options: { signal: AbortSignal }): Promise<Inspection>
}
