// The interface for inspecting media files. A child process (native/media) reads the files.

export type Inspection = {
  /**
   * The short name of the container in FFmpeg. FFmpeg has several names for some containers, such as
   * `mov,mp4,m4a,3gp,3g2,mj2`; this is the first name.
   */
  container: string
  codec: string
  sampleRate: number
  channels: number
  /** The exact duration, rounded down. It is measured from the packets, not read from a header. */
  durationMs: number
}

export type Media = {
  /**
   * Rejects with a JobFailure (INVALID_MEDIA_FORMAT, DURATION_TOO_LONG, PROCESSING_ERROR). If `signal` is
   * aborted, rejects with the reason of the signal.
   */
  inspect(path: string, options: { signal: AbortSignal }): Promise<Inspection>
}
