// The interface of an engine: the part of the server that transcribes recordings.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import type { HandOver, Needs, TranscribeInput, TranscribeOptions } from './request.ts'

/** The state of the engine, as it is reported by /v1/ready, by the metrics and in the log. */
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
   * Returns true if the engine could start a job with these needs now. It is called only while fewer than `capacity`
   * jobs run. An engine without this function can then start any job.
   */
  hasRoomFor?(needs: Needs): boolean
  state(): EngineState
  /** The codes of the languages that the loaded models support. The list is empty until the models are loaded. */
  languages(): readonly string[]
  /** True if a loaded model can translate to English, and false if none can. Null until the models are loaded. */
  translates(): boolean | null
  /** Registers a listener. It is called each time the engine becomes ready, so that waiting jobs can start. */
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
   * Returns the ids of the jobs that the engine has accepted, but that no worker works on at the moment. The server
   * restarts the timeouts of these jobs again and again, because a job must not time out while it waits for a worker.
   */
  waitingJobs?(): string[]
  /** Called when a job has ended and its transcript or its error is stored. */
  ended?(jobId: string): void
  close(): Promise<void>
}
