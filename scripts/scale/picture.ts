// Draws the simulated year of one server and its GPU workers as an SVG picture. One panel shows the number of GPUs in
// the busiest week. One panel shows the waiting times of the jobs on each day.

import { hour, load, week } from './assumptions.ts'
import type { Result } from './simulate.ts'

const width = 760
const left = 60
const right = 740
const panels = { gpus: { top: 50, bottom: 230 }, waits: { top: 300, bottom: 450 } }
const colours = { busy: '#2563eb', ordered: '#b45309', median: '#94a3b8', slow: '#b91c1c' }

type Panel = { top: number; bottom: number }
type Line = { colour: string; values: readonly number[] }

export function picture({ hours, days }: Result): string {
  const hoursOfWeek = week / hour
  const starts = Array.from({ length: Math.floor(hours.length / hoursOfWeek) }, (_, at) => at * hoursOfWeek)
  const orderedIn = (start: number) =>
    Math.max(...hours.slice(start, start + hoursOfWeek).map(({ ordered }) => ordered))
  const busiest = starts.toSorted((one, other) => orderedIn(other) - orderedIn(one))[0] ?? 0
  const shown = hours.slice(busiest, busiest + hoursOfWeek)
  const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
  const gpusMax = roundUp(orderedIn(busiest))
  const slow = days.map(waits => waits.quantile(0.99))
  const slowMax = roundUp(Math.max(...slow))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 480" font-family="sans-serif" font-size="12">`,
    `<title>A year of ${load.hoursPerMonth / 1e6} million hours of audio a month</title>`,
    `<rect width="${width}" height="480" fill="#fff"/>`,
    heading(20, `GPUs of one of ${load.servers} servers, in the week that needs the most`),
    legend(38, [
      { colour: colours.ordered, text: 'ordered' },
      { colour: colours.busy, text: 'needed if each GPU always works' },
    ]),
    ...scale(panels.gpus, gpusMax, ''),
    ...names.map((name, at) =>
      label(left + ((at + 0.5) / 7) * (right - left), panels.gpus.bottom + 16, name),
    ),
    line(panels.gpus, gpusMax, { colour: colours.ordered, values: shown.map(({ ordered }) => ordered) }),
    line(panels.gpus, gpusMax, { colour: colours.busy, values: shown.map(({ busy }) => busy) }),
    heading(270, 'Seconds that a job waits for a GPU, by day of the year'),
    legend(288, [
      { colour: colours.slow, text: '99 % wait less' },
      { colour: colours.median, text: '95 % wait less' },
    ]),
    ...scale(panels.waits, slowMax, ' s'),
    ...[0, 91, 182, 273].map(at =>
      label(left + (at / days.length) * (right - left), panels.waits.bottom + 16, `day ${at + 1}`),
    ),
    line(panels.waits, slowMax, { colour: colours.slow, values: slow }),
    line(panels.waits, slowMax, { colour: colours.median, values: days.map(waits => waits.quantile(0.95)) }),
    '</svg>\n',
  ].join('\n')
}

function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return Math.ceil(value / unit) * unit
}

function line({ top, bottom }: Panel, most: number, { colour, values }: Line): string {
  const points = values.map((value, at) => {
    const x = left + (at / (values.length - 1)) * (right - left)
    return `${x.toFixed(1)},${(bottom - (value / most) * (bottom - top)).toFixed(1)}`
  })
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`
}

function scale({ top, bottom }: Panel, most: number, unit: string): string[] {
  return [0, 0.25, 0.5, 0.75, 1].flatMap(share => {
    const y = bottom - share * (bottom - top)
    return [
      `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}" stroke="#ddd"/>`,
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${share * most}${unit}</text>`,
    ]
  })
}

function legend(y: number, entries: readonly { colour: string; text: string }[]): string {
  return entries
    .map(({ colour, text }, at) => `<text x="${left + at * 120}" y="${y}" fill="${colour}">■ ${text}</text>`)
    .join('')
}

function heading(y: number, text: string): string {
  return `<text x="${left}" y="${y}" font-size="15" font-weight="bold">${text}</text>`
}

function label(x: number, y: number, text: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="middle">${text}</text>`
}
