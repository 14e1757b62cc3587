import { existsSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { type OneShotEngine, openOnce } from '../engine/once.ts'
import type { TranscribeInput } from '../engine/protocol.ts'
import { transcribeProgress } from '../jobs/progress.ts'
import { findMeantLanguage, isLanguage } from '../languages.ts'
import { limits } from '../limits.ts'
import { openMedia } from '../media/inspect.ts'
import type { Media } from '../media/media.ts'
import { type ExportFormat, exporters } from '../transcripts/exporters.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { type Bar, barOf, openBar } from './bar.ts'
import { command, UsageError, type ValuesOf } from './command.ts'
import { localConfig } from './settings.ts'
import { terminal } from './terminal.ts'

const extensions = { text: 'txt', srt: 'srt', vtt: 'vtt', json: 'json' } as const
type Format = keyof typeof extensions

const options = {
  language: { type: 'string' },
  diarize: { type: 'boolean', default: false },
  speakers: { type: 'string' },
  prompt: { type: 'string' },
  vocabulary: { type: 'string' },
  'no-align': { type: 'boolean', default: false },
  format: { type: 'string', default: 'text' },
  output: { type: 'string', short: 'o' },
} as const

export const transcribe = command({
  usage:
    'steno transcribe FILE… [--language de] [--diarize] [--speakers N] [--prompt TEXT] [--vocabulary TERM,…] [--no-align] [--format text|srt|vtt|json] [-o OUT]',
  summary: 'Transcribe files of this machine, without a server.',
  options,
  help: {
    language: 'the spoken language; detected by default',
    diarize: 'tell speakers apart',
    speakers: `how many speakers to expect, 1 to ${limits.speakerCountMax}; needs --diarize`,
    prompt: 'text as it could stand before the recording: names, style, punctuation',
    vocabulary: 'terms that may be said, with commas between them',
    'no-align': 'no times of words',
    format: 'text, srt, vtt or json',
    'output, -o': 'a file, or a folder for several; standard output by default',
  },
  async run(files, values) {
    const task = readTask(files, values)
    const config = localConfig()
    const media = openMedia(config)
    const bar = openBar()
    const engine = await openOnce(config, message => bar.show(message))
    try {
      for (const note of engine.notes) terminal.err(`steno: ${note}\n`)
      for (const file of files) {
        const transcript = await transcribeFile(file, { engine, media, bar, task })
        bar.end()
        for (const warning of transcript.warnings ?? []) terminal.err(`steno: ${file}: ${warning}\n`)
        await write(transcript, file, task)
      }
    } finally {
      bar.end()
      await engine.close()
    }
  },
})

type Task = Pick<
  TranscribeInput,
  'language' | 'diarize' | 'speakerCount' | 'align' | 'prompt' | 'vocabulary'
> & {
  format: Format
  /**
   * Returns the path of the file into which the transcript of `file` is written. Returns null if the
   * transcript goes to stdout.
   */
  outputFor: (file: string) => string | null
}

function readTask(files: string[], values: ValuesOf<typeof options>): Task {
  if (files.length === 0) throw new UsageError('a file is needed')
  const missing = files.find(file => !existsSync(file) || !statSync(file).isFile())
  if (missing !== undefined) throw new Error(`there is no file ${missing}`)
  const { language = null, format, output = null, diarize } = values
  if (language !== null && !isLanguage(language)) {
    const meant = findMeantLanguage(language)
    throw new UsageError(`${language} is not a language code${meant === null ? '' : `; use ${meant}`}`)
  }
  if (!isFormat(format)) throw new UsageError(`${format} is not text, srt, vtt or json`)
  const isFolder = output !== null && existsSync(output) && statSync(output).isDirectory()
  if (output !== null && !isFolder && files.length > 1) {
    throw new UsageError(`${output} is not a folder, and there are ${files.length} files`)
  }
  const name = (file: string) => `${basename(file, extname(file))}.${extensions[format]}`
  return {
    language,
    format,
    diarize,
    speakerCount: speakersOf(values),
    align: !values['no-align'] || diarize,
    prompt: values.prompt ?? null,
    vocabulary: values.vocabulary?.split(',').map(term => term.trim()) ?? [],
    outputFor: file => (isFolder ? join(output, name(file)) : output),
  }
}

function speakersOf({ speakers, diarize }: ValuesOf<typeof options>): number | null {
  if (speakers === undefined) return null
  if (!diarize) throw new UsageError('--speakers needs --diarize')
  const count = Number(speakers)
  if (!Number.isInteger(count) || count < 1 || count > limits.speakerCountMax) {
    throw new UsageError(`--speakers is a whole number from 1 to ${limits.speakerCountMax}`)
  }
  return count
}

function isFormat(text: string): text is Format {
  return Object.hasOwn(extensions, text)
}

type Tools = { engine: OneShotEngine; media: Media; bar: Bar; task: Task }

async function transcribeFile(file: string, { engine, media, bar, task }: Tools): Promise<Transcript> {
  const { signal } = new AbortController()
  const { durationMs } = await media.inspect(file, { signal })
  const { language, diarize, speakerCount, align, prompt, vocabulary } = task
  const total = durationMs / 1000
  const onSeconds = (seconds: number) =>
    bar.show(`${barOf(seconds / total)} ${transcribeProgress(seconds, total).sentence} ${basename(file)}`)
  const input = { path: file, durationMs, language, diarize, speakerCount, align, prompt, vocabulary }
  return engine.transcribe(input, { signal, onSeconds })
}

async function write(transcript: Transcript, file: string, { format, outputFor }: Task): Promise<void> {
  const text = format === 'json' ? `${JSON.stringify(transcript, null, 2)}\n` : exported(transcript, format)
  const path = outputFor(file)
  if (path === null) process.stdout.write(text)
  else await Bun.write(path, text)
}

function exported(transcript: Transcript, format: ExportFormat): string {
  return exporters[format].write(transcript, {
    maxWords: limits.cueWords.default,
    maxChars: limits.cueChars.default,
    maxDurationMs: limits.cueSeconds.default * 1000,
    sentenceAware: true,
    stripChars: '',
    includeSpeakers: 'auto',
    includeTimestamps: false,
  })
}
