// The schema of the headers of a request for a media file.

import { Type } from '@sinclair/typebox'
import { open } from './query-values.ts'

export const mediaHeaders = Type.Object(
  {
    range: Type.Optional(Type.String({ description: 'The part that is wanted, as in bytes=0-999' })),
    'if-range': Type.Optional(
      Type.String({ description: 'The ETag of the parts that are there: of another file, all is sent' }),
    ),
    'if-none-match': Type.Optional(
      Type.String({ description: 'The ETag of the file that is there: the same file is not sent again' }),
    ),
  },
  open,
)
