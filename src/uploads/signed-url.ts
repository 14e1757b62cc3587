// The signed address of a PUT. It contains an expiry time and a signature, so the sender needs no API key.

import type { Secrets } from '../base/seal.ts'
import type { Upload } from './upload.ts'

const purpose = 'upload'

export function signedUrl(secrets: Secrets, baseUrl: string, upload: Upload): string {
  const expires = `${upload.expiresAt}`
  const signature = secrets.sign(purpose, signed(upload.id, expires, upload.contentType))
  return `${baseUrl}/v1/upload/${upload.id}?expires=${expires}&signature=${signature}`
}

/** Returns true for an address that this service signed for this Content-Type and that has not expired. */
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
