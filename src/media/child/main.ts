// The process that reads one media file and ends: the only place where FFmpeg is loaded. The server starts it
// through spawn.ts with the file on stdin and listens to what it says on stdout (wire.ts).

import { writeSync } from 'node:fs'
import { Refused } from '../refusals.ts'
import { type Order, type Tell, writeMessage } from '../wire.ts'
import { confine } from './confine.ts'
import { decode } from './decode.ts'
import { ffmpeg } from './ffmpeg.ts'
import { inspect } from './inspect.ts'
import { openSource } from './source.ts'

const stdout = 1
const jobs = { inspect, decode }

export async function media(): Promise<void> {
  const order: Order = JSON.parse(process.argv.at(-1)!)
  confine(order)
  // What FFmpeg has to say of a file repeats what stands in it.
  ffmpeg.Log.setLevel(ffmpeg.AV_LOG_QUIET)
  tell('end', encode(run(order)))
  // Nothing of the file needs to be put away tidily; the system takes all of it back faster.
  process.exit(0)
}

function run(order: Order): object {
  try {
    const source = openSource(ffmpeg)
    return { done: jobs[order.job](ffmpeg, source, { durationMsMax: order.durationMsMax, tell }) }
  } catch (error) {
    if (error instanceof Refused) return { refused: error.refusal }
    throw error
  }
}

/** Blocks while the reader is busy: that is how a slow engine slows the decoder down. */
const tell: Tell = (kind, body) => {
  const message = writeMessage(kind, body)
  for (let written = 0; written < message.length; ) written += writeSync(stdout, message, written)
}

function encode(record: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record))
}
