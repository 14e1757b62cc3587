import { JobFailure } from '../errors.ts'
import type { Engine } from './protocol.ts'

export function openEngine(_config: object): Engine {
  return {
    capacity: 1,
    state: () => ({ ready: true, message: 'There is no engine in this build.', model: null, device: null }),
    transcribe: async () => {
      throw new JobFailure('PROCESSING_ERROR', 'There is no speech engine in this build.')
    },
    close: async () => {},
  }
}
