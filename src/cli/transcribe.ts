import { existsSync } from 'node:fs'
import { unpackCarried } from '../base/carried.ts'
import type { Config } from '../config.ts'
import { command } from './command.ts'
import { Reported, UsageError } from './failure.ts'
import { checkModelFlag } from './model-flag.ts'
import { localConfig } from './settings.ts'
import { terminal } from './terminal.ts'
import { Batch, type Counts } from './transcribe/batch.ts'
import { untilInterrupted } from './transcribe/interrupt.ts'
import { openTarget, planOutputs, readTarget } from './transcribe/output-paths.ts'
import { speedOf } from './transcribe/screen.ts'
import { listSources } from './transcribe/sources.ts'
import { readTask, requireSpeakers } from './transcribe/task.ts'
import {
  languageHelp,
  type TaskValues,
  taskChoices,
  taskHelp,
  taskOptions,
} from './transcribe/task-options.ts'

export const transcribe = command({
  usage: 'steno transcribe FILE|FOLDER|ADDRESS|-… [--format srt,json] [--out FOLDER] [OPTIONS]',
  summary: 'Transcribe files, folders, standard input or addresses, without a server.',
  options: { ...taskOptions, 'skip-existing': { type: 'boolean', default: false } },
  help: { ...taskHelp, 'skip-existing': 'leave out a source whose output files exist' },
  choices: taskChoices,
  more: [
    'The exit code is 1 if one of the sources failed, 2 for wrong usage, 78 for a wrong setting, and 130 after Ctrl-C, which keeps what is done.',
    languageHelp,
    'Example: steno transcribe ~/talks --recursive --format text,srt --out transcripts --skip-existing',
  ],
  async run(given, values) {
    if (given.length === 0) throw new UsageError('a file is needed')
    if (given.includes('')) throw new UsageError('the name of a file is empty')
    const task = readTask(values, { skipExisting: values['skip-existing'] ?? false })
    const { sources, problems } = listSources(given, { recursive: values.recursive ?? false })
    const target = readTarget(values.out, values.format, sources.length)
    requireSpeakers(target.formats, task)
    const outputs = planOutputs(sources, target)
    const config = await configOf(values)
    if (sources.length > 0) openTarget(target)
    const startedAt = performance.now()
    const [stdoutFormat = 'text'] = target.formats
    await untilInterrupted(async signal => {
      const batch = new Batch({ config, task, stdoutFormat, signal })
      try {
        for (const { place, reason } of problems) batch.fail(place, reason)
        await batch.transcribeAll(outputs)
      } finally {
        await batch.close()
        if (!task.quiet) summarise(batch.counts, (performance.now() - startedAt) / 1000)
      }
      if (batch.counts.failed > 0) throw new Reported('some sources failed')
    })
  },
})

/**
 * Reads the settings of the commands `transcribe` and `watch`, and unpacks the files that are embedded in the program.
 * These commands have a flag --max-duration, the maximum length of a subtitle. There is also a setting of this name,
 * the maximum length of a recording. So the flag is not passed on as a setting.
 */
export async function configOf({ model, device, threads, ...values }: TaskValues): Promise<Config> {
  const dataDir = values['data-dir']
  // Without this check, a misspelt name would create a folder with unpacked files.
  if (dataDir && !existsSync(dataDir)) throw new UsageError(`there is no folder ${dataDir} for --data-dir`)
  checkModelFlag(model)
  const config = localConfig({ model, device, threads, 'data-dir': dataDir })
  await unpackCarried()
  return config
}

/**
 * Prints how many sources were transcribed, failed or were skipped. Prints nothing for a single source that was not
 * skipped.
 */
function summarise({ done, failed, skipped, seconds }: Counts, elapsed: number): void {
  const all = done + failed + skipped
  if (all < 2 && skipped === 0) return
  const parts = [
    `${done} of ${all} done`,
    ...(seconds > 0 ? [speedOf(seconds, elapsed)] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  terminal.err(`${parts.join(', ')}\n`)
}
