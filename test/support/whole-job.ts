// Runs a whole job with a built program: an upload of a clip, the transcription, and its subtitles. The program has its
// own folder, and none of the test's environment variables. This file can also run as a script: `whole-job.ts PLACE
// CLIP COMMAND…`. PLACE is the folder in which the program starts and creates its data folder.

export type WholeJob = {
  /**
   * Times in milliseconds from the start of the program. `listeningMs` ends when the program listens for requests, and
   * `transcribedMs` when the job ends.
   */
  listeningMs: number
  transcribedMs: number
  /**
   * The API key that the program prints at its first start only. A second run on the same data folder needs this key.
   */
  key: string
  job: Record<string, unknown>
  srt: string
  exitCode: number
}

export async function wholeJob(
  command: readonly string[],
  place: string,
  clip: string,
  { env = {}, key: known = null }: { env?: Record<string, string>; key?: string | null } = {},
): Promise<WholeJob> {
  const started = performance.now()
  const server = Bun.spawn([...command, 'serve', '--port', '0', '--data-dir', 'data'], {
    cwd: place,
    env: { STENO_MODEL: 'pocket', STENO_LOG: 'json', STENO_RATE_LIMITS: 'off', ...env },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  let log = ''
  const told = Promise.withResolvers<void>()
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of server.stdout) {
      log += decoder.decode(chunk, { stream: true })
      if (/listens on \S+\s/.test(log) && (known || /sk_live_\S+\s/.test(log))) told.resolve()
    }
    told.reject(new Error(`it ended before it listened: ${log}`))
  })()
  try {
    await told.promise
    const listeningMs = performance.now() - started
    const url = /listens on ([^\s"]+)/.exec(log)![1]!
    const key = known ?? /sk_live_[\w-]+/.exec(log)![0]
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(url + path, { ...init, headers: { Authorization: key, 'Content-Type': 'application/json' } })
    const json = async (path: string, init: RequestInit = {}) =>
      (await (await ask(path, init)).json()) as Record<string, string>

    const upload = await json('/v1/upload', { method: 'POST', body: '{"filename": "a.flac"}' })
    const put = { method: 'PUT', headers: { 'Content-Type': 'audio/flac' }, body: Bun.file(clip) }
    const { status } = await fetch(upload.upload_url!, put)
    if (status !== 200) throw new Error(`the upload was answered ${status}`)
    const body = JSON.stringify({ upload_id: upload.upload_id, diarize: true })
    const { id } = await json('/v1/transcribe', { method: 'POST', body })
    let job = await json(`/v1/transcribe/${id}`)
    while (!['completed', 'failed'].includes(job.status!)) {
      await Bun.sleep(20)
      job = await json(`/v1/transcribe/${id}`)
    }
    const transcribedMs = performance.now() - started
    const srt = await (await ask(`/v1/transcribe/${id}?format=srt&max_words=50`)).text()
    server.kill('SIGTERM')
    const exitCode = await server.exited
    await reading.catch(() => {})
    return { listeningMs, transcribedMs, key, job, srt, exitCode }
  } finally {
    server.kill('SIGKILL')
    await server.exited
  }
}

if (import.meta.main) {
  const [place = '', clip = '', ...command] = process.argv.slice(2)
  const env = { HOME: '/home', STENO_MODEL: '', STENO_DEVICE: 'cpu' }
  console.log(JSON.stringify(await wholeJob(command, place, clip, { env })))
}
