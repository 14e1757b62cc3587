// The schemas of the headers of resumable uploads, by the tus protocol.

import { Type } from '@sinclair/typebox'
import { documented } from '../../base/schema.ts'
import { open } from './query-values.ts'

const tusVersion = Type.Optional(Type.String({ description: 'tus: 1.0.0' }))

export const tusRequest = Type.Object({ 'tus-resumable': tusVersion }, open)

export const tusBytes = Type.Object(
  {
    'tus-resumable': tusVersion,
    'upload-offset': Type.Optional(Type.String({ description: 'How many bytes have arrived before' })),
  },
  open,
)

export const tusOverride = Type.Object(
  {
    ...tusBytes.properties,
    'x-http-method-override': Type.Optional(
      Type.String({ description: 'The method', ...documented({ enum: ['PATCH', 'DELETE'] }) }),
    ),
  },
  open,
)

export const tusCreation = Type.Object(
  {
    'tus-resumable': tusVersion,
    'upload-length': Type.Optional(Type.String({ description: 'The size of the file in bytes' })),
    'upload-metadata': Type.Optional(
      Type.String({ description: 'filename, a space, and the name of the file in base64' }),
    ),
  },
  open,
)
