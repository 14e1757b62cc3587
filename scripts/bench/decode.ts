// Measures the CPU time and the memory of decoding one hour of mp3 and of m4a. Compares the media child process with
// ffmpeg. The child process must need the same memory for ten hours as for one hour.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { limits } from '../../src/limits.ts'
import { argumentsOf, type MediaOrder } from '../../src/media/order.ts'
import { findProgram } from '../../src/media/program.ts'

export const bench = { name: 'media: inspecting and decoding', run }

/**
 * An FFmpeg expression for tones and noise. Speech also consists of tones and noise, so the decoders do realistic work.
 */
const sound = '0.3*sin(2*PI*300*t)*gt(mod(t,3),1)+0.1*random(0)|0.2*sin(2*PI*500*t)+0.1*random(1)'
const codecs = { mp3: ['-c:a', 'libmp3lame'], m4a: ['-c:a', 'aac'] }
const hours = 10

async function run(): Promise<string[][]> {
  const rows = [['file', 'what', 'CPU s', 'of ffmpeg', 'peak MB']]
  if (!Bun.which('ffmpeg')) return [...rows, ['-', 'skipped: there is no ffmpeg here', '', '', '']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-decode-'))
  try {
    for (const [extension, codec] of Object.entries(codecs)) {
      const hour = join(folder, `1h.${extension}`)
      const source = ['-f', 'lavfi', '-i', `aevalsrc='${sound}':s=44100:d=3600`]
      await ffmpeg([...source, ...codec, '-b:a', '128k', hour])
      const theirs = await ffmpeg(['-i', hour, '-ac', '1', '-ar', '16000', '-f', 'f32le', '-'])
      const ours = await child('decode', hour)
      const ratio = (ours.cpuSeconds / theirs.cpuSeconds).toFixed(2)
      rows.push([`1 h ${extension}`, 'ffmpeg', theirs.cpuSeconds.toFixed(2), '1', `${theirs.peakMb}`])
      rows.push([`1 h ${extension}`, 'decode', ours.cpuSeconds.toFixed(2), ratio, `${ours.peakMb}`])
      rows.push([`1 h ${extension}`, 'inspect', ...figures(await child('inspect', hour))])

      const long = join(folder, `${hours}h.${extension}`)
      await ffmpeg(['-stream_loop', `${hours - 1}`, '-i', hour, '-c', 'copy', long])
      rows.push([`${hours} h ${extension}`, 'inspect', ...figures(await child('inspect', long))])
      rows.push([`${hours} h ${extension}`, 'decode', ...figures(await child('decode', long))])
      rmSync(hour)
      rmSync(long)
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Usage = { cpuSeconds: number; peakMb: number }

function figures({ cpuSeconds, peakMb }: Usage): string[] {
  return [cpuSeconds.toFixed(2), '', `${peakMb}`]
}

function ffmpeg(options: string[]): Promise<Usage> {
  return measure(['ffmpeg', '-v', 'error', '-y', ...options], null)
}

function child(operation: MediaOrder['operation'], path: string): Promise<Usage> {
  const bounds = {
    openCpuMs: limits.mediaOpenCpuMs,
    cpuMs: limits.mediaDecodeCpuMs,
    memoryBytes: limits.mediaMemoryBytes,
  }
  // The long file consists of ten copies of an encoded hour. Each copy contains the padding of the encoder, so the file
  // is slightly longer than ten hours. The default limit is ten hours and would refuse the file, so it is doubled.
  const durationMsMax = 2 * readConfig({}).durationMsMax
  const order: MediaOrder = {
    operation,
    parent: process.pid,
    priority: 0,
    ...bounds,
    durationMsMax,
    channel: 0,
  }
  return measure([findProgram(null), ...argumentsOf(order)], path)
}

async function measure(command: string[], path: string | null): Promise<Usage> {
  const stdin = path === null ? 'ignore' : Bun.file(path)
  const child = Bun.spawn(command, { stdin, stdout: 'pipe', stderr: 'inherit' })
  let peakKb = 0
  const timer = setInterval(() => (peakKb = Math.max(peakKb, peakOf(child.pid))), 20)
  for await (const _ of child.stdout);
  clearInterval(timer)
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed`)
  return {
    cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6,
    peakMb: Math.round(peakKb / 1024),
  }
}

/**
 * Reads the peak memory of a running process, in KB. The resource usage of an ended process is unusable: on Linux, it
 * includes the peak memory of the parent process.
 */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    // The measured process has ended, so its status file no longer exists.
    return 0
  }
}
