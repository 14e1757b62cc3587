// The list of the jobs, with a button that shows more jobs.

import { focusHeading } from '../base/route.ts'
import { More } from '../parts/more.tsx'
import { tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { daysFilter, hasMore, jobs, readMoreJobs, showAllJobs, statusFilter } from './job-list.ts'
import { JobRow } from './job-row.tsx'

const text = words.jobs

export function List() {
  const all = jobs.value
  if (all === null) return <p class="hint loading">{words.loading}</p>
  const isFiltered = statusFilter.value !== '' || daysFilter.value !== '0'
  if (all.length === 0 && isFiltered) {
    return (
      <div class="empty">
        <p>{text.noneFound}</p>
        <button
          type="button"
          onClick={() => {
            showAllJobs()
            focusHeading()
          }}
        >
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
      {hasMore.value && <More onMore={() => readMoreJobs().catch(tellFault)} />}
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
