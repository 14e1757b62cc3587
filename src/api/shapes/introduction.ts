// The schema of the response of GET /v1.

import { Type } from '@sinclair/typebox'
import { nullable, record } from '../../base/schema.ts'
import { engineState } from '../../engine/engine.ts'
import { address, answer } from './answer-values.ts'

export const introduction = answer(
  'Introduction',
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    base_url: address,
    description_url: address,
    docs_url: address,
    endpoints: Type.Array(
      Type.Object({
        method: Type.String(),
        path: Type.String(),
        summary: Type.String(),
        requires_key: Type.Boolean(),
        requests_per_minute: nullable(Type.Integer()),
      }),
    ),
    authentication: Type.Object({
      type: Type.String(),
      headers: Type.Array(Type.String()),
      bearer_prefix: Type.String({
        description: 'Whether `Bearer ` must stand before a key in Authorization',
      }),
      format: Type.String(),
      webhook_signature: Type.String(),
      oauth_resource_metadata: Type.String({
        format: 'uri',
        description:
          'The OAuth metadata: where a client gets an access token, which is accepted instead of a key',
      }),
    }),
    sign_up: Type.Boolean({ description: 'Whether anybody may make an account with POST /v1/accounts' }),
    rate_limits: Type.Object({
      window_seconds: Type.Integer(),
      per_address: nullable(Type.Integer()),
      headers: Type.Array(Type.String()),
    }),
    versioning: Type.Object({ current: Type.String(), policy: Type.String() }),
    deprecation: Type.Object({ notice: Type.String(), headers: Type.Array(Type.String()) }),
    errors: Type.Object({
      envelope: Type.Object({ error: record(Type.String()) }),
      codes: Type.Array(Type.String()),
    }),
    limits: Type.Object({
      file_bytes: Type.Integer(),
      audio_seconds: Type.Object({ min: Type.Number(), max: Type.Number() }),
      extensions: Type.Array(Type.String()),
    }),
    languages: Type.Array(
      Type.Object({
        code: Type.String(),
        served: Type.Boolean({ description: 'Whether a model here knows the language' }),
      }),
    ),
    engine: engineState,
  }),
)
