// Tests the check of a signature file. `steno upgrade` makes this check before it installs a file.

import { expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { problemOf, publicKeyOf, type Release, readRelease, signRelease } from '../../src/cli/release.ts'

const [key, otherKey] = [newKey(), newKey()]
const installed = {
  publicKey: publicKeyOf(key),
  target: 'linux-x64',
  committed: '2026-11-01T00:00:00Z',
}
const sha256 = 'a'.repeat(64)
const release: Release = {
  version: '1.2.3',
  commit: 'abcdef',
  committed: '2026-11-02T00:00:00Z',
  target: 'linux-x64',
  sha256,
}
const signature = signRelease(release, key)

test('a signed release of the same time or later may be installed', () => {
  expect(readRelease(signature, installed.publicKey)).toEqual(release)
  expect(problemOf(signature, sha256, installed)).toBeNull()
  const same = signRelease({ ...release, committed: installed.committed }, key)
  expect(problemOf(same, sha256, installed)).toBeNull()
})

const foreign = 'is not signed with the key of this program'
const refused: [what: string, signature: string, problem: string][] = [
  ['signed with another key', signRelease(release, otherKey), foreign],
  ['with a changed version', signature.replace('1.2.3', '9.2.3'), foreign],
  ['with a line that was added', signature.replace('signature:', 'more: 1\nsignature:'), foreign],
  ['with the signature of another release', withSignatureOf({ ...release, version: '2.0.0' }), foreign],
  ['whose signature is cut short', signature.slice(0, -20), foreign],
  ['without a signature', signature.replace(/^signature.*$/m, ''), foreign],
  ['with an empty signature file', '', foreign],
  ['with a file of other content', 'not a signature', foreign],
  ['whose signed text has another title', resigned('steno release', 'another text'), foreign],
  ['whose signed text has no commit', resigned('commit: abcdef\n', ''), foreign],
  [
    'for another CPU',
    signRelease({ ...release, target: 'linux-arm64' }, key),
    'is for linux-arm64; this machine needs linux-x64',
  ],
  [
    'whose bytes are not those that were signed',
    signRelease({ ...release, sha256: 'b'.repeat(64) }, key),
    'is not the file that was signed: it is damaged or cut short',
  ],
  [
    'that is older',
    signRelease({ ...release, committed: '2026-10-31T00:00:00Z' }, key),
    'is older (2026-10-31T00:00:00Z) than this program (2026-11-01T00:00:00Z)',
  ],
]

test.each(refused)('a release %s is refused', (_, text, problem) => {
  expect(problemOf(text, sha256, installed)).toBe(problem)
})

function withSignatureOf(other: Release): string {
  const [, tail] = signRelease(other, key).split(/^signature: /m)
  const [head] = signature.split(/^signature: /m)
  return `${head}signature: ${tail}`
}

/** Returns the release's signature file with `other` in place of `found`, signed with the right key. */
function resigned(found: string, other: string): string {
  const [head = ''] = signature.split(/^signature: /m)
  const payload = head.replace(found, other)
  return `${payload}signature: ${sign(null, Buffer.from(payload), createPrivateKey(key)).toString('base64')}\n`
}

function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
}
