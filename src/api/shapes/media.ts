// The schema of the headers of a request for a media file.

import { Type } from '@sinclair/typebox'
import { open } from './query-values.ts'

export const mediaHeaders = Type.Object(
  {
    range: Type.Optional(Type.String({ description: 'The part that is wanted, as in bytes=0-999' })),
    'if-range': Type.Optional(
      Type.String({
        description: 'The ETag of the parts that you have. If the file has another one, all of it is sent',
      }),
    ),
    'if-none-match': Type.Optional(
      Type.String({
        description: 'The ETag of the file that you have. If the file still has it, the status is 304',
      }),
    ),
  },
  open,
)
