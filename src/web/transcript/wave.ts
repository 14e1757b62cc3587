// Draws the waveform of a recording, and a coloured lane that shows when each speaker talks.

import type { Utterance } from './document.ts'

const barWidth = 2
const barGap = 1
const laneHeight = 4

/**
 * Draws the waveform of the whole recording over the width of the canvas. `peaks` has one byte for each 50 ms of sound.
 * Without peaks, draws a flat line.
 */
export function drawWave(
  canvas: HTMLCanvasElement,
  { peaks, bar }: { peaks: Uint8Array; bar: string },
): void {
  const { context, width, height } = prepare(canvas)
  if (!context) return
  context.fillStyle = bar
  const step = barWidth + barGap
  const loudest = peaks.reduce((most, peak) => Math.max(most, peak), 1)
  for (let x = 0; x < width; x += step) {
    const from = Math.floor((x / width) * peaks.length)
    const to = Math.max(from + 1, Math.floor(((x + step) / width) * peaks.length))
    let peak = 0
    for (let at = from; at < to; at++) peak = Math.max(peak, peaks[at] ?? 0)
    const size = Math.max(1, (peak / loudest) * (height - 2))
    context.fillRect(x, (height - size) / 2, barWidth, size)
  }
}

/** Draws a rectangle in the speaker's colour for each utterance that has a speaker. */
export function drawSpeakers(
  canvas: HTMLCanvasElement,
  {
    utterances,
    duration,
    colourOf,
  }: { utterances: readonly Utterance[]; duration: number; colourOf: (speaker: string) => string },
): void {
  const { context, width } = prepare(canvas)
  if (!context || duration === 0) return
  for (const { speaker, start, end } of utterances) {
    if (speaker === null) continue
    context.fillStyle = colourOf(speaker)
    const from = (start / duration) * width
    context.fillRect(from, 0, Math.max(1, (end / duration) * width - from), laneHeight)
  }
}

/** Sets the resolution of the canvas to the pixels of the screen. Returns the size of the canvas in CSS pixels. */
function prepare(canvas: HTMLCanvasElement) {
  const { clientWidth: width, clientHeight: height } = canvas
  canvas.width = width * devicePixelRatio
  canvas.height = height * devicePixelRatio
  const context = canvas.getContext('2d')
  context?.scale(devicePixelRatio, devicePixelRatio)
  return { context, width, height }
}
