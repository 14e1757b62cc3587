// Signs the address of an upload. The address contains an expiry time and a signature, so the PUT needs no
// API key.

import type { Secrets } from '../base/seal.ts'
import type { Upload } from './upload.ts'

const purpose = 'upload'

export function signedUrl(secrets: Secrets, baseUrl: string, upload: Upload): string {
  const expires = `${upload.expiresAt}`
  const signature = secrets.sign(purpose, signed(upload.id, expires, upload.contentType))
  return `${baseUrl}/v1/upload/${upload.id}?expires=${expires}&signature=${signature}`
}

/** Returns true if this service signed the address for this Content-Type, and the address has not expired. */
export function isSignedUrl(
  secrets: Secrets,
  {
    id,
    expires,
    signature,
    contentType,
  }: { id: string; expires: string; signature: string; contentType: string },
  now: number,
): boolean {
  return secrets.isSigned(purpose, signed(id, expires, contentType), signature) && Number(expires) > now
}

function signed(id: string, expires: string, contentType: string): string {
  return `${id}\n${expires}\n${contentType}`
}
