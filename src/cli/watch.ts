import { statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { limits } from '../limits.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { UsageError } from './failure.ts'
import { terminal } from './terminal.ts'
import { Batch } from './transcribe/batch.ts'
import { untilInterrupted } from './transcribe/interrupt.ts'
import { looksLikeFile, type Output, openTarget, planOutputs, readTarget } from './transcribe/output-paths.ts'
import type { Source } from './transcribe/source.ts'
import { readTask, requireSpeakers } from './transcribe/task.ts'
import { languageHelp, taskChoices, taskHelp, taskOptions } from './transcribe/task-options.ts'
import { openWatcher } from './transcribe/watcher.ts'
import { configOf } from './transcribe.ts'

export const watch = command({
  usage: 'steno watch FOLDER --out FOLDER [--format srt,json] [OPTIONS]',
  summary: 'Transcribe every file that appears in a folder, until Ctrl-C.',
  options: taskOptions,
  help: {
    ...taskHelp,
    out: 'the folder of the transcripts',
    overwrite: 'replace files that exist, when a source changes or is newer than they are',
  },
  choices: taskChoices,
  more: [
    'A file is taken when its size and time did not change for two seconds, and when its output is missing or, with --overwrite, older.',
    'A file that failed is tried again when it changes, or when it is back after it was missing.',
    languageHelp,
  ],
  async run(positionals, values) {
    const [folder] = need(positionals, 'FOLDER')
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`${folder} is not a folder`)
    if (!values.out || values.out === '-') throw new UsageError('--out FOLDER is needed')
    if (looksLikeFile(values.out))
      throw new UsageError(`${values.out} is not a folder; --out ${values.out}/ makes one`)
    const task = readTask(values, { skipExisting: !values.overwrite })
    const target = readTarget(`${values.out}/`, values.format, 1)
    requireSpeakers(target.formats, task)
    const config = await configOf(values)
    openTarget(target)
    const watcher = openWatcher(folder, { recursive: values.recursive ?? false })
    if (!task.quiet) terminal.err(`steno watches ${folder}; Ctrl-C ends it\n`)
    await untilInterrupted(async signal => {
      const batch = new Batch({ config, task, stdoutFormat: 'text', signal })
      try {
        while (!signal.aborted) {
          const { added, changed, all } = watcher.look()
          const planned = planOutputs(all, target)
          const outputsOf = (source: Source) => planned.get(source) ?? []
          const sources = [...added.filter(each => !isDone(each, outputsOf(each))), ...changed]
          await batch.transcribeAll(new Map(sources.map(source => [source, outputsOf(source)])))
          await wait(limits.watchEveryMs, undefined, { signal })
        }
      } catch (error) {
        // Ctrl-C is the normal end of this command, so an error after Ctrl-C is ignored.
        if (!signal.aborted) throw error
      } finally {
        await batch.close()
      }
    })
  },
})

/** Returns true if all output files of a source exist, and none of them is older than the source. */
function isDone({ place }: Source, outputs: Output[]): boolean {
  const changedAt = changeTimeOf(place)
  return outputs.every(({ path }) => changeTimeOf(path) >= changedAt)
}

/**
 * Returns the modification time of a file, or NaN if it cannot be read. Each comparison with NaN is false, so `isDone`
 * returns false if a file is missing.
 */
function changeTimeOf(path: string): number {
  try {
    return statSync(path).mtimeMs
  } catch {
    return Number.NaN
  }
}
