// The schemas of the headers of resumable uploads, by the tus protocol.

import { Type } from '@sinclair/typebox'
import { documented } from '../../base/schema.ts'
import { open } from './query-values.ts'

const needed = documented({ needed: true })
const tusVersion = Type.Optional(Type.String({ description: 'tus: 1.0.0', ...needed }))
const offset = { description: 'How many bytes have arrived before' }

export const tusRequest = Type.Object({ 'tus-resumable': tusVersion }, open)

export const tusBytes = Type.Object(
  {
    'tus-resumable': tusVersion,
    'upload-offset': Type.Optional(Type.String({ ...offset, ...needed })),
  },
  open,
)

export const tusOverride = Type.Object(
  {
    'tus-resumable': tusVersion,
    // Only PATCH needs this header.
    'upload-offset': Type.Optional(Type.String(offset)),
    'x-http-method-override': Type.Optional(
      Type.String({ description: 'The method', ...documented({ needed: true, enum: ['PATCH', 'DELETE'] }) }),
    ),
  },
  open,
)

export const tusCreation = Type.Object(
  {
    'tus-resumable': tusVersion,
    'upload-length': Type.Optional(Type.String({ description: 'The size of the file in bytes', ...needed })),
    'upload-metadata': Type.Optional(
      Type.String({ description: 'filename, a space, and the name of the file in base64', ...needed }),
    ),
  },
  open,
)
