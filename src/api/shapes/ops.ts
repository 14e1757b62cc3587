// The schemas of the health check and of the readiness check.

import { Type } from '@sinclair/typebox'
import { engineState } from '../../engine/engine.ts'
import { listedWorker } from '../../workers/listing.ts'
import { answer } from './answer-values.ts'

export const health = answer('Health', Type.Object({ status: Type.Literal('ok') }))

export const readiness = answer(
  'Readiness',
  Type.Object({
    ready: Type.Boolean(),
    database: Type.Boolean({ description: 'The database can be written' }),
    media: Type.Boolean({ description: 'Media files can be written; the free space is not checked' }),
    engine: engineState,
    workers: Type.Optional(
      Type.Object(
        {
          connected: Type.Boolean({ description: 'Jobs can be handed to workers over NATS' }),
          message: Type.String(),
          list: Type.Array(listedWorker),
        },
        { description: 'The workers on other machines; absent without STENO_NATS' },
      ),
    ),
  }),
)
