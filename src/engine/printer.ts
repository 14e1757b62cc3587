// Makes voice prints for the server. Each voice print is made in its own child process, so a request does not wait for
// running jobs.

import { unpackCarried } from '../base/carried.ts'
import { openSemaphore } from '../base/semaphore.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { ask } from './ask.ts'
import { findServing } from './models/serving.ts'
import type { Order, PrintOrder, VoicePrint } from './protocol.ts'
import type { EngineSettings } from './worker.ts'

export type { VoicePrint }

/**
 * A media file with the speech of one person. `speech` lists the spans in which this person speaks, or is null if they
 * are unknown.
 */
export type PrintSource = Pick<PrintOrder, 'path' | 'speech'>

/** Makes the voice print of one person. Rejects if no print can be made, in most cases with a JobFailure. */
export type MakePrint = (accountId: string, source: PrintSource, signal: AbortSignal) => Promise<VoicePrint>

export function openPrinter(settings: EngineSettings): MakePrint {
  const semaphore = openSemaphore(limits.voicePrintsMax)
  const make = async (source: PrintSource, signal: AbortSignal): Promise<VoicePrint> => {
    await unpackCarried()
    const { voices } = findServing(settings)
    if ('problem' in voices) throw new JobFailure('PROCESSING_ERROR', voices.problem)
    const { durationMsMax, mediaProgram, dataDir } = settings
    const order: Order = {
      kind: 'print',
      parent: process.pid,
      dataDir,
      voices,
      durationMsMax,
      mediaProgram,
      ...source,
    }
    const report = await ask(order, AbortSignal.any([signal, AbortSignal.timeout(limits.voicePrintMs)]))
    if (report?.kind === 'printed') return report.print
    if (report?.kind === 'notPrinted') throw new JobFailure(report.code, report.message)
    throw new JobFailure('PROCESSING_ERROR')
  }
  return (accountId, source, signal) => semaphore.run(accountId, () => make(source, signal), signal)
}
