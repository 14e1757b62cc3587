// An ONNX Runtime that counts the sessions that are opened and closed.

import { addsBytesExactly } from '../../src/engine/onnx/byte-products.ts'
import type { Runtime } from '../../src/engine/onnx/runtime.ts'
import { runtime } from './engine-room.ts'

export type Counts = { opened: number; closed: number }

export function countedSessions(): { counted: Runtime; counts: Counts } {
  const counts = { opened: 0, closed: 0 }
  const counted: Runtime = {
    ...runtime(),
    CreateSession(...given) {
      runtime().CreateSession(...given)
      counts.opened++
    },
    CreateSessionFromArray(...given) {
      runtime().CreateSessionFromArray(...given)
      counts.opened++
    },
    ReleaseSession(...given) {
      runtime().ReleaseSession(...given)
      counts.closed++
    },
  }
  // The first call of `addsBytesExactly` for a runtime opens and closes a session. The counts are reset afterwards, so
  // they do not include this session.
  addsBytesExactly(counted)
  counts.opened = 0
  counts.closed = 0
  return { counted, counts }
}
