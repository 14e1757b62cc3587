// The charts of the last 24 hours on the operator's page.

import { showDuration, showNumber, showTime } from '../base/format.ts'
import { words } from '../words.ts'
import { Bars } from './bars.tsx'
import type { Hour } from './overview.ts'

const text = words.operator

export function Charts({ hours }: { hours: Hour[] }) {
  const labels = hours.map(({ at }) => showTime(at))
  return (
    <section class="charts" aria-label={text.lastDay}>
      <Bars
        title={text.jobsByHour}
        labels={labels}
        series={[
          {
            name: words.jobs.statuses.completed,
            className: 'good',
            values: hours.map(hour => hour.completed),
          },
          { name: words.jobs.statuses.failed, className: 'bad', values: hours.map(hour => hour.failed) },
        ]}
        show={showNumber}
      />
      <Bars
        title={text.audioByHour}
        labels={labels}
        series={[{ name: text.audio, className: 'good', values: hours.map(hour => hour.audio_seconds) }]}
        show={showDuration}
      />
      <Bars
        title={text.waitByHour}
        labels={labels}
        series={[{ name: text.wait, className: 'calm', values: hours.map(hour => hour.wait_seconds) }]}
        show={showDuration}
      />
    </section>
  )
}
