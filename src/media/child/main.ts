// The child process that reads one media file and then exits. No other process loads FFmpeg. The server
// (spawn.ts) starts the child with the file on stdin, and reads the messages of the child from stdout
// (wire.ts).

import { writeSync } from 'node:fs'
import { Refused } from '../refusals.ts'
import { type MediaOrder, type Send, writeMessage } from '../wire.ts'
import { confine, limitCpu } from './confine.ts'
import { decodeSource } from './decode.ts'
import { ffmpeg } from './ffmpeg.ts'
import { inspectSource } from './inspect.ts'
import { Source } from './source.ts'

const stdout = 1
const operations = { inspect: inspectSource, decode: decodeSource }

export async function media(): Promise<void> {
  const order: MediaOrder = JSON.parse(process.argv.at(-1) ?? '')
  confine(order)
  // The log messages of FFmpeg would show content of the file.
  ffmpeg.Log.setLevel(ffmpeg.AV_LOG_QUIET)
  send('end', encode(run(order)))
  // process.exit skips the cleanup of FFmpeg: the operating system frees the memory faster.
  process.exit(0)
}

function run({ operation, durationMsMax, cpuMs }: MediaOrder): object {
  try {
    const source = new Source(ffmpeg)
    limitCpu(cpuMs, cpuMs)
    return { done: operations[operation](ffmpeg, source, { durationMsMax, send }) }
  } catch (error) {
    if (error instanceof Refused) return { refused: error.refusal }
    throw error
  }
}

/**
 * Sends a message. Blocks while the pipe is full, so a slow reader slows down the decoder (backpressure).
 */
const send: Send = (kind, body) => {
  const message = writeMessage(kind, body)
  for (let written = 0; written < message.length; ) written += writeSync(stdout, message, written)
}

function encode(record: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record))
}
