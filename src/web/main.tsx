import { render } from 'preact'
import { loadSession } from './account/session.ts'
import { App } from './app.tsx'
import { startRouting } from './base/route.ts'
import './base/theme.ts'

startRouting()
render(<App />, document.body)
await loadSession()
