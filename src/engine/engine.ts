// The interface of an engine: the part of the program that transcribes recordings.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { HandOver, Needs, TranscribeInput, TranscribeOptions } from './request.ts'

/** The state of the engine, as the API reports it. */
export const engineState = Type.Object({
  ready: Type.Boolean(),
  /**
   * The reason why the engine is not ready. For a ready engine: `ready`, or a notice, for example that the built-in
   * model is in use.
   */
  message: Type.String(),
  model: nullable(Type.String()),
  device: nullable(Type.String()),
  diarization: Type.String({ description: '`ready`, or why jobs with diarize would fail' }),
})

export type EngineState = Static<typeof engineState>

export type Engine = {
  /**
   * The maximum number of jobs at the same time. This number changes, for example, when a worker on another machine
   * connects or disconnects.
   */
  readonly capacity: number
  /**
   * Returns true if the engine can now start a job that needs this language, diarization or translation. Also returns
   * true if no engine can ever do the job: such a job must start, so that it fails at once instead of waiting without
   * end. Called only while fewer than `capacity` jobs run. An engine without this method can start any job while fewer
   * than `capacity` jobs run.
   */
  hasRoomFor?(needs: Needs): boolean
  state(): EngineState
  /** The codes of the languages that the models of the engine support. Empty while no models are known. */
  languages(): readonly string[]
  /** True if a model of the engine can translate to English. Null while no models are known. */
  translates(): boolean | null
  /**
   * Registers a listener that is called when waiting jobs may be able to start: the engine has become ready, or workers
   * on other machines can take more jobs.
   */
  onReady(listener: () => void): void
  /**
   * Transcribes one recording. Rejects with a JobFailure if the recording cannot be transcribed. After an abort,
   * rejects with the reason of the signal.
   */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  /**
   * Returns true if a worker on another machine claimed the job before the server restarted, and may still work on it.
   * The server then passes the job to the engine even without free capacity, and the engine first waits for the result
   * of this worker.
   */
  mayBeHeld?(handOver: HandOver): boolean
  /**
   * Returns the ids of accepted jobs that no worker works on, as far as the engine knows. The server keeps restarting
   * the timeouts of these jobs, because a job must not time out while it waits for a worker.
   */
  waitingJobs?(): string[]
  /**
   * Called when the server no longer needs a result of the job, because the job has ended, was erased, or starts again
   * with a new download of its media.
   */
  ended?(jobId: string): void
  close(): Promise<void>
}
