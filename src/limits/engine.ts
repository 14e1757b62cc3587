// The limits of the engine and of enrolled voices.

import { GB, minute, second } from './units.ts'

export const engineLimits = {
  // Limits of the engine.
  /**
   * The nice value (CPU priority) of an engine process, and of the process that decodes media for the engine. The
   * server has the nice value 0, so that it gets the CPU first. A process that inspects a media file has the nice value
   * 19. If such a process also had the nice value 10, three inspections of hostile files would halve the speed of every
   * engine.
   */
  engineNice: 10,
  engineLoadMs: 10 * minute,
  /**
   * An engine process that has a job is killed if it sends no progress report for this time. One pass of a large model
   * may take half a minute.
   */
  engineStallMs: 5 * minute,
  /**
   * Interval at which the server looks for engine processes that SIGSTOP has stopped. The server kills such a process.
   */
  engineLookMs: 5 * second,
  /** Number of jobs after which an engine process is replaced, because libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /**
   * Pause before the second attempt to load a model, after the first attempt failed. Further pauses grow exponentially
   * up to `engineRetryMsMax`.
   */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /**
   * Interval of the progress reports of an engine. With each report, the engine also reads the messages of the server.
   */
  engineReportEveryMs: second / 4,
  /**
   * Maximum number of files that the command `transcribe` transcribes at the same time. The windows of these files are
   * decoded together.
   */
  jointFilesMax: 16,
  /**
   * Maximum total duration of the files that the command `transcribe` transcribes at the same time. A longer file is
   * transcribed alone.
   */
  jointMsMax: 4 * minute,
  /** Maximum number of utterances in one message of an engine process. */
  enginePartUtterances: 100,
  /**
   * Maximum memory, in bytes, for the attention keys and values of all windows that are decoded in one batch. `cpu` is
   * for a model on a CPU, and `gpu` is for a model on a GPU.
   */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Limits of enrolled voices.
  /** Maximum number of enrolled voices of one account. */
  voicesMax: 100,
  /** Maximum number of concurrent child processes that make voice prints. Further requests wait. */
  voicePrintsMax: 2,
  /** Timeout of a child process that makes a voice print. */
  voicePrintMs: 5 * minute,
} as const
