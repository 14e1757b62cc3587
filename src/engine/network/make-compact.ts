// Converts a model to the compact form (8-bit weights) and writes the file. The conversion runs in its own process,
// because it blocks the event loop. The end of the process frees the memory of the conversion.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { reasonOf } from '../../base/reason.ts'
import type { CompactOrder, Report } from '../protocol.ts'
import { compactFile, writeCompact } from './compact.ts'
import { openSource } from './source.ts'

export async function makeCompact({ folder, variant, draft }: CompactOrder): Promise<Report> {
  try {
    const path = join(draft, compactFile)
    await writeCompact(openSource(folder, variant), path)
    const hash = createHash('sha256')
    for await (const bytes of Bun.file(path).stream()) hash.update(bytes)
    return { kind: 'compacted', sha256: hash.digest('hex') }
  } catch (error) {
    return { kind: 'notCompacted', message: reasonOf(error) }
  }
}
