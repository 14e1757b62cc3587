// The limits of the engine and of enrolled voices.

import { GB, minute, second } from './units.ts'

export const engineLimits = {
  // Limits of the engine.
  /**
   * The nice value (CPU priority) of an engine process, and of the process that decodes media for the engine. The
   * server has 0, and gets the CPU first. A process that inspects a media file has 19. If inspections also had 10,
   * three inspections of hostile files would halve the speed of every engine.
   */
  engineNice: 10,
  engineLoadMs: 10 * minute,
  /**
   * An engine process with a job is killed after this time without a progress report. One pass of a large model may
   * take half a minute.
   */
  engineStallMs: 5 * minute,
  /**
   * Interval at which the server looks for engine processes that a signal such as SIGSTOP has stopped, and kills them.
   * Without this check, a stopped process would keep its job until `engineStallMs` is over.
   */
  engineLookMs: 5 * second,
  /** Number of jobs after which an engine process is replaced, because libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /**
   * Pause after the first failed attempt to load a model. Further pauses grow exponentially up to `engineRetryMsMax`.
   */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /** Interval of the progress reports of an engine. With each report, the engine also reads messages of the server. */
  engineReportEveryMs: second / 4,
  /** Maximum number of files that the command `transcribe` transcribes together. */
  jointFilesMax: 16,
  /**
   * Maximum total duration of the files that the command `transcribe` transcribes together. A longer file is
   * transcribed alone.
   */
  jointMsMax: 4 * minute,
  /** Maximum number of utterances in one message of an engine process. */
  enginePartUtterances: 100,
  /**
   * Maximum memory, in bytes, for the attention keys and values of one batch. `cpu` and `gpu` name the device of the
   * model.
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
