// The interface of an engine: the part of the program that transcribes recordings.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { HandOver, Needs, TranscribeInput, TranscribeOptions } from './request.ts'

/** The state of the engine, as the API reports it. */
export const engineState = Type.Object({
  ready: Type.Boolean(),
  /**
   * If the engine is not ready: the reason. If the engine is ready: the text `ready`, or a notice, for example that the
   * built-in model is in use.
   */
  message: Type.String(),
  model: nullable(Type.String()),
  device: nullable(Type.String()),
  diarization: Type.String({ description: '`ready`, or why jobs with diarize would fail' }),
})

export type EngineState = Static<typeof engineState>

export type Engine = {
  /**
   * The number of jobs that can run at the same time. It can change, for example when a worker on another machine
   * connects or disconnects.
   */
  readonly capacity: number
  /**
   * Returns true if the engine could start a job with these needs now, or if the job would fail at once because no
   * engine can do it. It is called only while fewer than `capacity` jobs run. An engine without this function can then
   * start any job.
   */
  hasRoomFor?(needs: Needs): boolean
  state(): EngineState
  /** The codes of the languages that the models of the engine support. The list is empty while no models are known. */
  languages(): readonly string[]
  /** True if a model of the engine can translate to English, and false if none can. Null while no models are known. */
  translates(): boolean | null
  /**
   * Registers a listener. It is called when the engine becomes ready or, in a cluster, can take further jobs, so that
   * waiting jobs can start.
   */
  onReady(listener: () => void): void
  /**
   * Transcribes one recording. Rejects with a JobFailure if the recording cannot be transcribed. If the signal is
   * aborted, rejects with the reason of the signal.
   */
  transcribe(input: TranscribeInput, options: TranscribeOptions): Promise<Transcript>
  /**
   * Returns true if a worker on another machine claimed the job before the server restarted. This worker may still be
   * working on the job. So the server passes the job to the engine immediately, even if the engine has no free
   * capacity. The engine first waits for the result of this worker.
   */
  mayBeHeld?(handOver: HandOver): boolean
  /**
   * Returns the ids of the jobs that the engine has accepted, but that no worker works on, as far as the engine knows.
   * The server restarts the timeouts of these jobs again and again, because a job must not time out while it waits for
   * a worker.
   */
  waitingJobs?(): string[]
  /**
   * Called when the server needs no result of the job any more: the job has ended or was erased, or its media must be
   * downloaded again.
   */
  ended?(jobId: string): void
  close(): Promise<void>
}
