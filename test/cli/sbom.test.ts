// Tests that the software bill of materials (SBOM) is valid and complete, and that the same files always give the same
// SBOM.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { sha256 } from '../../src/base/hash.ts'
import { billOf } from '../../src/cli/bill.ts'
import { contentsOf } from '../../src/cli/contents.ts'
import { listPackages } from '../../src/cli/notices.ts'
import { findCommand } from '../support/command.ts'

const root = join(import.meta.dir, '../..')
const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
const hashes = new Map<string, string>()
type Component = { name: string; hashes?: { content: string }[]; components?: Component[] }

test('sbom prints a valid CycloneDX document', async () => {
  const { code, out } = await findCommand(root, 'sbom')
  expect(code).toBe(0)
  const own = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'
  expect(out.trim()).toBe(billOf(root, own, hashOnce).trim())
  expect(await validator.validate(out)).toBeNull()
  expect(await validator.validate(out.replace('"library"', '"book"'))).not.toBeNull()
})

test.each(['linux-x64', 'linux-arm64'] as const)(
  'the bill for %s has every package, and the hash of every file',
  target => {
    const text = billOf(root, target, hashOnce)
    const { components } = JSON.parse(text) as { components: Component[] }
    const names = components.map(({ name }) => name)
    for (const { about } of listPackages(root)) expect(names).toContain(about.name)
    for (const name of ['FFmpeg', 'ONNX Runtime', 'Bun', 'Whisper base']) expect(names).toContain(name)

    const listed = new Map(
      components
        .flatMap(each => each.components ?? [])
        .map(({ name, hashes }) => [name, hashes?.[0]?.content]),
    )
    for (const [path, source] of contentsOf(root, target)) {
      // The built program contains two files from the folder test/: a speech clip that `steno doctor` transcribes, and
      // its text. They belong to steno itself, and not to a package or model that the SBOM lists. So the SBOM has no
      // hash of them.
      if (!path.startsWith('test/')) expect([path, listed.get(path)]).toEqual([path, hashOnce(source)])
    }
  },
)

test('each file is in one part, and the voice network is in the part of the pocket models', () => {
  const { components } = JSON.parse(billOf(root, 'linux-x64', hashOnce)) as { components: Component[] }
  const files = components.flatMap(each => each.components ?? []).map(({ name }) => name)
  expect(files.toSorted()).toEqual([...new Set(files)].toSorted())
  const { components: pocket = [] } = components.find(({ name }) => name === 'Pocket models') ?? {}
  expect(pocket.map(({ name }) => name)).toContain('models/whisper-base/voice-network.onnx')
})

/** Returns the SHA-256 hash of a file. Reads each file only once. */
function hashOnce(path: string): string {
  const hash = hashes.get(path) ?? sha256(readFileSync(path))
  hashes.set(path, hash)
  return hash
}
