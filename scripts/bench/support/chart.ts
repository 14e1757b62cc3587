// Draws a chart of speeds, with one line for each series. The horizontal axis is the length of the media file in
// minutes, on a logarithmic scale.

export type Series = { name: string; points: { minutes: number; speed: number }[] }

const [width, height] = [720, 360]
const frame = { left: 70, right: 20, top: 50, bottom: 60 }
const colours = ['#2563eb', '#b45309', '#047857', '#7c3aed']

export function chart(title: string, note: string, series: readonly Series[]): string {
  const all = series.flatMap(each => each.points)
  const [least, most] = [
    Math.min(...all.map(each => each.minutes)),
    Math.max(...all.map(each => each.minutes)),
  ]
  const top = niceAbove(Math.max(...all.map(each => each.speed)))
  const span = Math.log(most / least) || 1
  const x = (minutes: number) =>
    frame.left + (Math.log(minutes / least) / span) * (width - frame.left - frame.right)
  const y = (speed: number) => height - frame.bottom - (speed / top) * (height - frame.top - frame.bottom)
  const lengths = [...new Set(all.map(each => each.minutes))].toSorted((one, other) => one - other)
  const text = (at: number, down: number, words: string, more = '') =>
    `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" ${more}>${escaped(words)}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(frame.left, 20, title, 'font-size="15" font-weight="bold"'),
    text(frame.left, 37, note, 'fill="#555"'),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap(share => {
      const down = y(share * top)
      return [
        `<line x1="${frame.left}" x2="${width - frame.right}" y1="${down.toFixed(1)}" y2="${down.toFixed(1)}" stroke="#ddd"/>`,
        text(frame.left - 8, down + 4, `${share * top} ×`, 'text-anchor="end"'),
      ]
    }),
    ...lengths.map(each => text(x(each), height - frame.bottom + 18, lengthOf(each), 'text-anchor="middle"')),
    ...series.flatMap(({ name, points }, index) => {
      const colour = colours[index % colours.length]!
      const path = points.map(each => `${x(each.minutes).toFixed(1)},${y(each.speed).toFixed(1)}`)
      return [
        `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...path.map(
          at => `<circle cx="${at.split(',')[0]}" cy="${at.split(',')[1]}" r="3.5" fill="${colour}"/>`,
        ),
        text(frame.left + 220 * index, height - 15, `● ${name}`, `fill="${colour}"`),
      ]
    }),
    '</svg>\n',
  ].join('\n')
}

function lengthOf(minutes: number): string {
  return minutes < 120 ? `${minutes} min` : `${minutes / 60} h`
}

function niceAbove(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 4, 6, 8, 10].map(each => each * step).find(each => each >= value)!
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
