// A bar chart in SVG. For screen readers, a hidden table contains the same figures.

import { words } from '../words.ts'

type Series = { name: string; className: string; values: number[] }

type BarsProps = {
  title: string
  labels: string[]
  series: Series[]
  show: (value: number) => string
}

const height = 100
const barSpace = 12
const barWidth = 9

export function Bars({ title, labels, series, show }: BarsProps) {
  const sums = labels.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const most = Math.max(...sums, 0)
  return (
    <figure class="bars">
      <figcaption>
        {title}{' '}
        <span class="hint">{most === 0 ? words.operator.nothing : words.operator.most(show(most))}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${labels.length * barSpace} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <line class="base" x1={0} y1={height} x2={labels.length * barSpace} y2={height} />
        {labels.map((label, at) => (
          <Column key={label} at={at} series={series} most={most} />
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{labels[0]}</span>
        <span>{labels[Math.floor(labels.length / 2)]}</span>
        <span>{labels.at(-1)}</span>
      </div>
      <table class="unseen">
        <caption>{title}</caption>
        <tbody>
          {labels.map((label, at) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{`${name}: ${show(values[at] ?? 0)}`}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** One stacked bar of a chart: the values of all series at the index `at`. */
function Column({ at, series, most }: { at: number; series: Series[]; most: number }) {
  let top = height
  return (
    <>
      {series.map(({ name, className, values }) => {
        const size = most === 0 ? 0 : ((values[at] ?? 0) / most) * height
        top -= size
        return <rect key={name} class={className} x={at * barSpace} y={top} width={barWidth} height={size} />
      })}
    </>
  )
}
