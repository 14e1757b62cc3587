import { render } from 'preact'
import { loadSession } from './account/session.ts'
import { App } from './app.tsx'
import { root } from './base/root.ts'
import { path, startRouting } from './base/route.ts'
import './base/theme.ts'
import { refuseDrops } from './jobs/dropped.ts'
import { readJobEarly } from './transcript/job-head.tsx'

startRouting()
refuseDrops()
const [, jobId] = /^\/jobs\/([^/]+)$/.exec(path.value) ?? []
if (jobId) readJobEarly(jobId)
if (root) render(<App />, root)
await loadSession()
