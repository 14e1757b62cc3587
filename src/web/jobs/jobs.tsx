// The page of the jobs: the form that adds recordings, and the list of jobs below the form.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { go } from '../base/route.ts'
import { Choice } from '../parts/field.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { words } from '../words.ts'
import { Add } from './add.tsx'
import type { JobStatus } from './job.ts'
import { daysFilter, statusFilter, watchJobs } from './job-list.ts'
import { List } from './list.tsx'
import { Uploading } from './uploading.tsx'

const text = words.jobs

const statuses: [JobStatus | '', string][] = [
  ['', text.anyStatus],
  ['processing', text.statuses.processing],
  ['pending', text.statuses.pending],
  ['completed', text.statuses.completed],
  ['failed', text.statuses.failed],
]
const periods: [string, string][] = [
  ['0', text.anyTime],
  ['1', text.today],
  ['7', text.lastWeek],
  ['30', text.lastMonth],
]

export function JobsPage() {
  const asked = useSignal('')
  useEffect(watchJobs, [statusFilter.value, daysFilter.value])
  return (
    <main id="main" class="page">
      <h1 class="unseen" tabIndex={-1}>
        {text.title}
      </h1>
      <Add />
      <Uploading />
      <section aria-labelledby="list-title">
        <div class="list-head">
          <h2 id="list-title">{text.title}</h2>
          <SearchField
            label={words.search.field}
            of={asked}
            onSend={() => asked.value.trim() && go(`/search?q=${encodeURIComponent(asked.value.trim())}`)}
          />
          <Choice label={text.status} of={statusFilter} options={statuses} />
          <Choice label={text.period} of={daysFilter} options={periods} />
        </div>
        <List />
      </section>
    </main>
  )
}
