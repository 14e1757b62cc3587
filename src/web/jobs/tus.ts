// Uploads a file in parts by the tus protocol 1.0. An interrupted upload continues after the last byte that the server
// received.

import { isOnline, pause, signInAgain } from '../base/connection.ts'
import { Fault, faultOf } from '../base/fault.ts'
import { isAway } from '../base/net.ts'
import { retryPauseMs, timing } from '../base/timing.ts'

const version = { 'Tus-Resumable': '1.0.0' }

/**
 * An upload that exists on the server. The bytes of the file are sent to `address`. The request that creates a job
 * names the file by `uploadId`.
 */
export type Started = { address: string; uploadId: string }

/** Thrown if the browser can no longer read a file, for example because its USB stick was removed. */
export class UnreadableFile extends Error {}

/** Creates an upload on the server for a file. Returns the address and the id of this upload. */
export async function startUpload(file: File, signal: AbortSignal): Promise<Started> {
  const response = await fetch('/v1/upload/resumable', {
    method: 'POST',
    signal,
    headers: {
      ...version,
      'Upload-Length': String(file.size),
      'Upload-Metadata': `filename ${toBase64(file.name)}`,
    },
  })
  if (!response.ok) throw await faultOf(response)
  const address = new URL(response.headers.get('location') ?? '', location.href)
  return { address: address.pathname + address.search, uploadId: response.headers.get('upload-id') ?? '' }
}

/**
 * Returns the number of bytes of an upload that the server has received. Returns null if the upload does not exist or
 * has expired.
 */
export async function offsetOf(address: string, signal: AbortSignal): Promise<number | null> {
  const response = await fetch(address, { method: 'HEAD', headers: version, signal })
  if (response.ok) return Number(response.headers.get('upload-offset'))
  if (response.status === 404 || response.status === 410) return null
  throw await faultOf(response)
}

export function removeUpload(address: string): Promise<unknown> {
  return fetch(address, { method: 'DELETE', headers: version }).catch(() => null)
}

type SendOptions = {
  offset: number
  signal: AbortSignal
  onProgress: (sent: number) => void
  /**
   * Called with the number of times in a row that the server has refused a part. The number is 0 after the server has
   * stored a part, and while the server cannot be reached.
   */
  onRefused: (times: number) => void
}

/**
 * Sends the bytes of a file from `offset` to its end, part by part. After a temporary error, continues at the first
 * byte that the server has not received. Throws an `UnreadableFile` if the file was moved, changed or removed.
 */
export async function sendFile(
  file: File,
  address: string,
  { offset, signal, onProgress, onRefused }: SendOptions,
): Promise<void> {
  let at = offset
  for (let tries = 0; at < file.size; ) {
    try {
      const piece = file.slice(at, at + timing.pieceBytes)
      const from = at
      at = await sendPiece(piece, address, { offset: at, signal, onSent: sent => onProgress(from + sent) })
      onProgress(at)
      tries = 0
      onRefused(0)
      isOnline.value = true
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof Fault && !isPassing(error)) throw error
      await requireReadable(file)
      isOnline.value = !isAway(error)
      if (error instanceof Fault && error.status === 401) await signInAgain()
      else await pause(retryPauseMs(tries++), signal)
      signal.throwIfAborted()
      onRefused(isAway(error) ? 0 : tries)
      // The server may have stored some bytes of the failed part. The next part must begin after these bytes.
      const soon = AbortSignal.any([signal, AbortSignal.timeout(timing.stallMs)])
      at = (await offsetOf(address, soon).catch(() => null)) ?? at
      signal.throwIfAborted()
      onProgress(at)
    }
  }
}

/**
 * Sends one part of a file. Returns the offset of the byte after this part. Fails if no byte goes out for
 * `timing.stallMs`, for example because a phone has lost the network. Uses XMLHttpRequest, because `fetch` does not
 * report the progress of an upload.
 */
function sendPiece(
  piece: Blob,
  address: string,
  { offset, signal, onSent }: { offset: number; signal: AbortSignal; onSent: (bytes: number) => void },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PATCH', address)
    request.setRequestHeader('Tus-Resumable', version['Tus-Resumable'])
    request.setRequestHeader('Upload-Offset', String(offset))
    request.setRequestHeader('Content-Type', 'application/offset+octet-stream')
    const abort = () => request.abort()
    signal.addEventListener('abort', abort)
    let stall = setTimeout(abort, timing.stallMs)
    request.upload.onprogress = event => {
      clearTimeout(stall)
      stall = setTimeout(abort, timing.stallMs)
      onSent(event.loaded)
    }
    request.onloadend = async () => {
      clearTimeout(stall)
      signal.removeEventListener('abort', abort)
      if (signal.aborted) return reject(signal.reason)
      if (request.status === 0) return reject(new TypeError('the server did not answer'))
      if (request.status === 204) return resolve(Number(request.getResponseHeader('upload-offset')))
      const type = request.getResponseHeader('content-type') ?? ''
      const headers = { 'Content-Type': type }
      reject(await faultOf(new Response(request.responseText, { status: request.status, headers })))
    }
    request.send(piece)
  })
}

/**
 * Throws an `UnreadableFile` if the first byte of the file cannot be read. The error of a failed request does not show
 * this: it is the same for an unreadable file and for a server that does not answer.
 */
async function requireReadable(file: File): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new UnreadableFile()
    })
}

/** Returns true if the error is temporary: the same part may be sent again. */
function isPassing({ status }: Fault): boolean {
  return (
    status === 401 || status === 409 || status === 423 || status === 429 || (status >= 500 && status !== 507)
  )
}

/** Encodes a text as UTF-8 and then as Base64. `btoa` alone would throw an error for characters outside Latin-1. */
function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
