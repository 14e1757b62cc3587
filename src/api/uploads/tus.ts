// Reads the headers of the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload).

import { ApiError } from '../../errors.ts'
import { requirePlainBytes } from '../gate/body.ts'

export const tusVersion = '1.0.0'
export const tusExtensions = 'creation,creation-with-upload,termination,expiration'

const bytesType = 'application/offset+octet-stream'

export function requireVersion(headers: Headers): void {
  if (headers.get('tus-resumable') === tusVersion) return
  throw new ApiError('TUS_VERSION_NOT_SUPPORTED', undefined, { 'Tus-Version': tusVersion })
}

/**
 * Returns the number of bytes in the header `name`. Throws if the header is missing, or not a whole number of up to 15
 * digits.
 */
export function readBytes(headers: Headers, name: 'Upload-Length' | 'Upload-Offset'): number {
  const text = headers.get(name)
  if (text !== null && /^\d{1,15}$/.test(text)) return Number(text)
  throw new ApiError('INVALID_REQUEST', `${name} must be a whole number of bytes.`)
}

/** Returns the length of the body from the header Content-Length, or 0 if the header is missing. */
export function readBodyLength(headers: Headers): number {
  return Number(headers.get('content-length') ?? 0)
}

/**
 * Throws unless the Content-Type is the type that the tus protocol requires for the bytes of a file. Also throws for a
 * Content-Encoding other than `identity`.
 */
export function requireBytesType(headers: Headers): void {
  if (headers.get('content-type')?.trim().toLowerCase() !== bytesType)
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the bytes with Content-Type: ${bytesType}.`)
  requirePlainBytes(headers)
}

/** Parses the header Upload-Metadata, which is a list of keys. Each key may have a value in Base64. */
export function readMetadata(headers: Headers): Map<string, string> {
  const pairs = (headers.get('upload-metadata') ?? '').split(',').filter(pair => pair.trim() !== '')
  const metadata = new Map<string, string>()
  for (const pair of pairs) {
    const [key = '', value = '', ...more] = pair.trim().split(/ +/)
    const isValid = more.length === 0 && /^[\x21-\x7e]+$/.test(key) && !metadata.has(key)
    const text = isValid ? decode(value) : null
    if (text === null) throw new ApiError('INVALID_REQUEST', 'Upload-Metadata is not valid.')
    metadata.set(key, text)
  }
  return metadata
}

function decode(base64: string): string | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    return null
  }
}
