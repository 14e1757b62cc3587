// The signature file of a release: a text file beside the program, signed with Ed25519. It contains the version, the
// commit and its time, the target, and the program's SHA-256.

import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { sameText } from '../base/hash.ts'

export type Release = { version: string; commit: string; committed: string; target: string; sha256: string }
const fields = ['version', 'commit', 'committed', 'target', 'sha256'] as const
const title = 'steno release'

/** Returns the text of the signature file for a release. `privateKey` is the Ed25519 signing key in PEM format. */
export function signRelease(release: Release, privateKey: string): string {
  const payload = [title, ...fields.map(field => `${field}: ${release[field]}`), ''].join('\n')
  const signature = sign(null, Buffer.from(payload), createPrivateKey(privateKey))
  return `${payload}signature: ${signature.toString('base64')}\n`
}

/** Returns the public key of a private key, in SPKI format as base64. */
export function publicKeyOf(privateKey: string): string {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64')
}

/** Reads a signature file. Returns null if the text is not one, or if its signature is not valid for `publicKey`. */
export function readRelease(text: string, publicKey: string): Release | null {
  const [payload = '', signature] = text.split(/^signature: /m)
  const [first, ...lines] = payload.split('\n')
  if (first !== title || signature === undefined) return null
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  if (!verify(null, Buffer.from(payload), key, Buffer.from(signature, 'base64'))) return null
  const found = Object.fromEntries(lines.filter(Boolean).map(line => line.split(': ', 2)))
  return fields.every(field => typeof found[field] === 'string') ? (found as Release) : null
}

/** Facts about the installed program, which an upgrade compares with the new release. */
export type Installed = { publicKey: string; target: string; committed: string }

/**
 * Returns the reason why a program file must not be installed, or null if it may be. `signature` is the text of its
 * signature file, and `sha256` is the hash of the program file.
 */
export function problemOf(signature: string, sha256: string, installed: Installed): string | null {
  const release = readRelease(signature, installed.publicKey)
  if (release === null) return 'is not signed with the key of this program'
  if (release.target !== installed.target)
    return `is for ${release.target}; this machine needs ${installed.target}`
  if (!sameText(release.sha256, sha256)) return 'is not the file that was signed: it is damaged or cut short'
  if (release.committed < installed.committed)
    return `is older (${release.committed}) than this program (${installed.committed})`
  return null
}
