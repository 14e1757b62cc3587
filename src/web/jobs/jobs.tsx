// The page of the jobs: the form that adds recordings, and the list of jobs below the form.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { go } from '../base/route.ts'
import { Choice } from '../parts/form.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { Add } from './add.tsx'
import type { JobStatus } from './job.ts'
import { daysFilter, hasMore, jobs, readMoreJobs, showAllJobs, statusFilter, watchJobs } from './job-list.ts'
import { JobRow } from './job-row.tsx'
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

function List() {
  const all = jobs.value
  if (all === null) return <p class="hint loading">{words.loading}</p>
  const isFiltered = statusFilter.value !== '' || daysFilter.value !== '0'
  if (all.length === 0 && isFiltered) {
    return (
      <div class="empty">
        <p>{text.noneFound}</p>
        <button type="button" onClick={showAllJobs}>
          {text.showAll}
        </button>
      </div>
    )
  }
  if (all.length === 0) return <FirstSteps />
  return (
    <>
      <ul class="jobs">
        {all.map(job => (
          <JobRow key={job.id} job={job} />
        ))}
      </ul>
      {hasMore.value && (
        <p class="more">
          <button type="button" onClick={() => readMoreJobs().catch(tellFault)}>
            {text.more}
          </button>
        </p>
      )}
    </>
  )
}

function FirstSteps() {
  return (
    <div class="empty">
      <p class="lead">{text.empty}</p>
      <ol>
        {text.firstSteps.map(step => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p class="hint">
        {text.forScripts} <a href="/docs">{words.header.docs}</a>
      </p>
    </div>
  )
}
