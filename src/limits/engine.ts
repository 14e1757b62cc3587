// The limits of the engine and of enrolled voices.

import { GB, minute, second } from './units.ts'

export const engineLimits = {
  // Limits of the engine.
  /**
   * The nice value (CPU priority) of an engine, and of the process that decodes media for the engine. The server has
   * the nice value 0, so that it gets the CPU first. A process that inspects a media file has the nice value 19. If it
   * had the value 10 too, three inspections of hostile files would halve the speed of every engine.
   */
  engineNice: 10,
  engineLoadMs: 10 * minute,
  /**
   * Maximum time between two messages of a busy engine. If an engine is silent for longer, it is killed. On a slow
   * machine, one pass of a large model over a batch takes half a minute.
   */
  engineStallMs: 5 * minute,
  /**
   * Interval of the check whether a busy engine process was stopped by a signal, such as SIGSTOP. A stopped process is
   * killed.
   */
  engineLookMs: 5 * second,
  /** Number of jobs after which an engine process is replaced, because libraries may leak memory. */
  engineJobsMax: 100,
  engineTriesMax: 2,
  /** First pause after a model failed to load. Further pauses grow exponentially up to `engineRetryMsMax`. */
  engineRetryMs: 5 * second,
  engineRetryMsMax: 5 * minute,
  /**
   * Interval of the progress reports of an engine. At each report, the engine also reads the messages of the server.
   */
  engineReportEveryMs: second / 4,
  /** Maximum number of utterances in one message of an engine process. */
  enginePartUtterances: 100,
  /**
   * Maximum memory in which the decoder keeps the keys and values of all windows of a batch: `cpu` for a model on a
   * CPU, `gpu` for a model on a GPU.
   */
  engineCacheBytes: { cpu: 0.75 * GB, gpu: 8 * GB },

  // Limits of enrolled voices.
  /** Maximum number of voices of one account. */
  voicesMax: 100,
  /** Maximum number of concurrent child processes that make voice prints. Further requests for voice prints wait. */
  voicePrintsMax: 2,
  /** Timeout of a child process that makes a voice print. */
  voicePrintMs: 5 * minute,
} as const
