// The overview of the service that the server sends to the operator's page.

export type Hour = {
  at: string
  completed: number
  failed: number
  audio_seconds: number
  wait_seconds: number
}
export type Account = {
  email: string
  jobs: number
  audio_seconds: number
  charged_cents: number
  balance_cents: number
  last_job_at: string | null
}
export type Request = {
  at: string
  method: string
  route: string
  status: number
  ms: number
  account: string | null
}
export type Overview = {
  engine: { ready: boolean; message: string; model: string | null; device: string | null }
  workers: number
  started_at: string
  memory_bytes: number
  disk: { free_bytes: number; total_bytes: number; media_bytes: number; reserve_bytes: number }
  engine_crashes: number
  lost_events: number
  queue: Record<'created' | 'downloading' | 'pending' | 'processing', number>
  hours: Hour[]
  errors: { code: string; jobs: number; last_at: string }[]
  accounts: Account[]
  requests: Request[]
}
