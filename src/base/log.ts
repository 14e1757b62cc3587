// Writes the log to stderr. Each line has a time, an event name and fields. No line contains a whole key, a signed
// address or a transcript.

import { firstErrorOf } from './reason.ts'
import { visible } from './visible.ts'

export type Fields = Record<string, string | number | boolean | null | undefined>
type Level = (typeof levels)[number]
export type LogEvent = { level: Level; event: string; fields: Fields }
type Format = 'pretty' | 'json' | 'silent'

let format: Format = 'silent'
let lowest: Level = 'info'
let pass: ((event: LogEvent) => void) | null = null
/**
 * The number of lines that are not written to stderr yet. If stderr is a full pipe, lines wait until its reader reads.
 */
let unwritten = 0
let onWritten = () => {}

export const levels = ['info', 'warn', 'error'] as const

/**
 * Sets the format of the log, and the lowest level that is written. Without this call, nothing is logged. Only the
 * commands `serve` and `worker` write a log.
 */
export function setLogFormat(chosen: Format, lowestLevel: Level = 'info'): void {
  format = chosen
  lowest = lowestLevel
}

/**
 * Passes each later log event to `receive`, even if this process writes no log. An engine process thus passes its log
 * events to the server.
 */
export function passLogTo(receive: (event: LogEvent) => void): void {
  pass = receive
}

export const log = {
  info: (event: string, fields: Fields = {}) => write('info', event, fields),
  warn: (event: string, fields: Fields = {}) => write('warn', event, fields),
  error: (event: string, fields: Fields = {}) => write('error', event, fields),
}

/** Resolves when all lines are written. Must be awaited before `process.exit`, which discards unwritten lines. */
export function logWritten(): Promise<void> {
  return new Promise(resolve => {
    if (unwritten === 0) resolve()
    else onWritten = resolve
  })
}

/**
 * Returns the message and the stack of an unexpected error as log fields. A response to a caller must not contain them.
 */
export function errorFields(error: unknown): Fields {
  const first = firstErrorOf(error)
  return first instanceof Error ? { error: first.message, stack: first.stack } : { error: String(first) }
}

function write(level: Level, event: string, fields: Fields): void {
  pass?.({ level, event, fields })
  if (format === 'silent' || levels.indexOf(level) < levels.indexOf(lowest)) return
  const time = new Date().toISOString()
  if (format === 'json') {
    writeLine(JSON.stringify({ time, level, event, ...fields }))
    return
  }
  const shown = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? shownText(value) : value}`,
  )
  writeLine(`${time.slice(11, 19)} ${level === 'info' ? '' : `${level} `}${event}${shown.join('')}`)
}

function writeLine(line: string): void {
  unwritten++
  process.stderr.write(`${line}\n`, lineWritten)
}

/** Called when a line is written to stderr, or when this has failed. */
function lineWritten(): void {
  unwritten--
  if (unwritten === 0) onWritten()
}

/** Formats the text of a field. Escapes control characters, because the text may come from a caller. */
function shownText(value: string): string {
  return visible(/\s/.test(value) ? JSON.stringify(value) : value)
}
