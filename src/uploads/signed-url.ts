// Signs the address of an upload. The address contains an expiry time and a signature, so the PUT needs no API key.

import type { Secrets } from '../base/seal.ts'
import type { Upload } from './upload.ts'

const purpose = 'upload'

export function signedUrl(secrets: Secrets, baseUrl: string, upload: Upload): string {
  const expires = `${upload.expiresAt}`
  const signature = secrets.sign(purpose, signed(upload.id, expires, upload.contentType))
  return `${baseUrl}/v1/upload/${upload.id}?expires=${expires}&signature=${signature}`
}

type Presented = { id: string; expires: string; signature: string; contentType: string }

/**
 * Returns the reason why a PUT to a signed address is refused, or null if it is accepted. The signature is valid for
 * one Content-Type. `wanted` is the Content-Type of the upload, or null if the upload does not exist.
 */
export function whyRefused(
  secrets: Secrets,
  { id, expires, signature, contentType }: Presented,
  { wanted, now }: { wanted: string | null; now: number },
): string | null {
  if (!secrets.isSigned(purpose, signed(id, expires, wanted ?? contentType), signature))
    return 'The signature of this address is not valid: use the upload_url unchanged.'
  if (wanted !== null && contentType !== wanted)
    return `Send the header Content-Type: ${wanted}, as the answer with this address says.`
  if (Number(expires) <= now) return 'This address has expired: create a new upload.'
  return null
}

function signed(id: string, expires: string, contentType: string): string {
  return `${id}\n${expires}\n${contentType}`
}
