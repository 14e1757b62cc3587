// The secret of a data folder, from which the server derives two kinds of keys. One kind encrypts private columns of
// the database. The other kind signs texts that callers send back, such as upload addresses and page cursors.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hmacSha256, sameText } from './hash.ts'
import { inheritOwner } from './inherit-owner.ts'
import { Draft } from './whole-file.ts'

export type Secrets = {
  /** Encrypts a text. `open` decrypts the encrypted text. */
  seal(text: string): string
  open(sealed: string): string
  /** Signs a text. A signature for one `purpose` is not valid for another purpose. */
  sign(purpose: string, text: string): string
  isSigned(purpose: string, text: string, signature: string): boolean
}

const secretBytes = 32
const nonceBytes = 12
const tagBytes = 16

export function secretPath(dataDir: string): string {
  return join(dataDir, 'secret.key')
}

/**
 * Reads the secret of the data folder. Creates a secret if there is none. A new secret cannot decrypt older data, so
 * the caller must first check that the database has no data that an earlier secret has encrypted. Simultaneous calls of
 * several processes get the same secret.
 */
export function openSecrets(dataDir: string): Secrets {
  const path = secretPath(dataDir)
  if (!existsSync(path)) createSecret(path)
  return readSecrets(path)
}

/** Reads the secret from a file: from the data folder, or from a backup. */
export function readSecrets(path: string): Secrets {
  const secret = readSecret(path)
  const sealKey = derive(secret, 'seal')
  const signKeys = new Map<string, Uint8Array>()
  const signKey = (purpose: string) => {
    const known = signKeys.get(purpose) ?? derive(secret, `sign ${purpose}`)
    signKeys.set(purpose, known)
    return known
  }
  const sign = (purpose: string, text: string) => hmacSha256(signKey(purpose), text)

  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, nonceBytes))
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      return Buffer.concat([
        decipher.update(bytes.subarray(nonceBytes + tagBytes)),
        decipher.final(),
      ]).toString('utf8')
    },
    sign,
    isSigned: (purpose, text, signature) => sameText(sign(purpose, text), signature),
  }
}

/** Reads a secret from a file of the data folder or of a backup. Throws if the file has the wrong length. */
export function readSecret(path: string): Uint8Array {
  const secret = readFileSync(path)
  if (secret.length === secretBytes) return secret
  throw new Error(
    `${path} is damaged: it has ${secret.length} bytes in place of ${secretBytes}; every backup of this service has the same key`,
  )
}

function createSecret(path: string): void {
  using draft = new Draft(path)
  writeFileSync(draft.path, randomBytes(secretBytes), { mode: 0o600 })
  inheritOwner(draft.path)
  // If another process has created a secret first, place() does nothing, and the secret of that process is used.
  draft.place()
}

function derive(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `steno ${purpose}`, secretBytes))
}
