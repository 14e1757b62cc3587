import { unpackCarried } from '../base/carried.ts'
import { reasonOf } from '../base/reason.ts'
import { whyNoCuda } from '../engine/models/cuda-libraries.ts'
import { testSpeech } from '../engine/models/roles.ts'
import { findServing } from '../engine/models/serving.ts'
import { type OneShotEngine, openOnce } from '../engine/once.ts'
import { hasCuda } from '../engine/onnx/library.ts'
import { openMedia } from '../media/inspect.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { doctorClip, hearClip, wordErrorRate } from './doctor/clip.ts'
import { type Host, hostChecks, type Outcome } from './doctor/host.ts'
import { print } from './print.ts'
import { findDataDir, localConfig, recordOptions } from './settings.ts'

type Finding = { check: string; ok: boolean; found: string; note: boolean }
type Checkup = Host & {
  engine: OneShotEngine | null
  /** The function that starts an engine with the models that a server would use. Tests replace this function. */
  open?: typeof openOnce
}

export const checks: Record<string, (checkup: Checkup) => Promise<Outcome>> = {
  ...hostChecks,
  decoder: async ({ config }) => {
    await unpackCarried()
    const { path } = await doctorClip()
    const { codec, durationMs } = await openMedia(config).inspect(path, {
      signal: new AbortController().signal,
    })
    return `${codec}, ${(durationMs / 1000).toFixed(1)} s`
  },
  model: async ({ config }) => {
    const { name, notice } = findServing(config)
    return notice === null ? `${name} is here` : { note: notice }
  },
  'voice models': async ({ config }) => {
    const { voices } = findServing(config)
    if ('problem' in voices) throw new Error(voices.problem)
    return voices.areSmall ? 'the small built-in ones' : 'here'
  },
  'ONNX Runtime': async checkup => {
    checkup.engine = await openOnce({ ...checkup.config, model: testSpeech }, () => {}, { diarize: true })
    return `version ${checkup.engine.runtime}`
  },
  device: async ({ engine, config }) => {
    if (!engine) throw new Error('the runtime did not start')
    // On a CPU, the engine's notes say why no GPU is used. On a GPU, the notes describe only the small model that this
    // check loads, so they are left out.
    const notes = engine.device === 'cpu' ? engine.notes : []
    return [`${engine.device} (${config.device} was asked for)`, ...notes].join('; ')
  },
  CUDA: async ({ config: { device } }) => {
    const why = whyNoCuda()
    if (why === null) return 'its provider and libraries are here'
    if (device !== 'cuda' && !hasCuda()) return 'not asked for'
    throw new Error(why)
  },
  transcription: async ({ engine, config }) => {
    if (!engine) throw new Error('the runtime did not start')
    const made = hearClip(engine, config, { diarize: true }).catch(error => {
      throw new Error([reasonOf(error), ...engine.notes].join('; '))
    })
    const { text, full_transcript: heard, speakers } = await made
    if (wordErrorRate(text, heard) > 0) throw new Error(`expected “${text}”, heard “${heard}”`)
    if (speakers?.length !== 1) throw new Error(`expected one speaker, heard ${speakers?.length}`)
    return `“${heard}”, by ${speakers.join(', ')}, with ${testSpeech}`
  },
  'serving model': async ({ config, open = openOnce }) => {
    const { name } = findServing(config)
    if (name === testSpeech) return `${name}, as above`
    const engine = await open(config, () => {}, { diarize: true })
    try {
      const { text, full_transcript: heard } = await hearClip(engine, config, { diarize: false })
      if (wordErrorRate(text, heard) > wordErrorRateMax)
        throw new Error(`${name} expected “${text}”, heard “${heard}”`)
      return [`“${heard}”, with ${name} (${engine.variant}) on ${engine.device}`, ...engine.notes].join('; ')
    } finally {
      await engine.close()
    }
  },
}

/**
 * The maximum word error rate of the built-in clip, from 0 to 1. The clip has a synthetic voice, so even a good model
 * may get one or two words wrong.
 */
const wordErrorRateMax = 0.2

export const doctor = command({
  usage: 'steno doctor [--json]',
  summary: 'Check everything the service needs; at the end transcribe a built-in clip.',
  options: recordOptions,
  async run(positionals, values) {
    need(positionals)
    const checkup: Checkup = { config: localConfig(values), dataDir: findDataDir(values), engine: null }
    const findings: Finding[] = []
    try {
      for (const [check, run] of Object.entries(checks)) {
        findings.push(
          await run(checkup).then(
            found => findingOf(check, found),
            error => ({ check, ok: false, found: reasonOf(error), note: false }),
          ),
        )
      }
    } finally {
      await checkup.engine?.close()
    }
    print(values, findings, () => findings.flatMap(linesOf))
    const bad = findings.filter(({ ok }) => !ok)
    if (bad.length > 0) throw new Error(`these checks failed: ${bad.map(({ check }) => check).join(', ')}`)
  },
})

export function findingOf(check: string, found: Outcome): Finding {
  const note = typeof found !== 'string'
  return { check, ok: true, found: note ? found.note : found, note }
}

export function linesOf({ check, ok, found, note }: Finding): string[] {
  const state = ok ? (note ? 'note' : 'good') : 'BAD '
  return `${state}  ${check.padEnd(14)} ${found}`.split('\n')
}
