import { render } from 'preact'
import { loadSession } from './account/session.ts'
import { App } from './app.tsx'
import { path, startRouting } from './base/route.ts'
import './base/theme.ts'
import { refuseDrops } from './jobs/dropped.ts'
import { startMessages } from './parts/toast.tsx'
import { readJobEarly } from './transcript/job-head.tsx'

startRouting()
refuseDrops()
const [, jobId] = /^\/jobs\/([^/]+)$/.exec(path.value) ?? []
if (jobId) readJobEarly(jobId)
render(<App />, document.body)
startMessages()
await loadSession()
