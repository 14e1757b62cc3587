// Reads server-sent events, as a browser does.

import { expect } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { listedJob, segment } from '../../src/api/shapes/job.ts'

/** A server-sent event. `id` is null if the event has no id. For a comment line, `event` is an empty text. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON has another shape in each event
export type ServerEvent = { event: string; id: string | null; data: any }

/**
 * Yields the events of a response until its end. Skips blocks that begin with `retry:`. Checks the data of each event
 * `job` or `segment`.
 */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent, void> {
  let rest = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) if (!block.startsWith('retry:')) yield parse(block)
  }
  expect(rest).toBe('')
}

/** Reads events up to the first one for which `isLast` returns true. Throws if the stream ends earlier. */
export async function readUntil(
  events: AsyncGenerator<ServerEvent, void>,
  isLast: (event: ServerEvent) => boolean,
): Promise<ServerEvent[]> {
  const read: ServerEvent[] = []
  for (let next = await events.next(); !next.done; next = await events.next()) {
    read.push(next.value)
    if (isLast(next.value)) return read
  }
  throw new Error(`the stream ended after ${JSON.stringify(read)}`)
}

function parse(block: string): ServerEvent {
  const event: ServerEvent = { event: '', id: null, data: null }
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? []
    if (field === 'event') event.event = value
    if (field === 'id') event.id = value
    if (field === 'data') event.data = JSON.parse(value)
  }
  if (event.event === 'job') expect([...Value.Errors(listedJob, event.data)]).toEqual([])
  if (event.event === 'segment') expect([...Value.Errors(segment, event.data)]).toEqual([])
  return event
}
