// The schemas of the list of transcriptions.

import { Type } from '@sinclair/typebox'
import { documented, nullable, oneOf } from '../../base/schema.ts'
import { jobStates } from '../../jobs/states.ts'
import { limits } from '../../limits.ts'
import { answer } from './answer-values.ts'
import { listedJob } from './job.ts'
import { open, queryInteger } from './query-values.ts'

export const page = answer(
  'TranscriptionPage',
  Type.Object({ items: Type.Array(listedJob), next_cursor: nullable(Type.String()) }),
)

const instantFormat = documented({ format: 'date-time' })

export const listQuery = Type.Object(
  {
    status: Type.Optional(oneOf(jobStates, { description: `one of ${jobStates.join(', ')}` })),
    from: Type.Optional(
      Type.String({ description: 'an ISO 8601 time; jobs created then or later', ...instantFormat }),
    ),
    to: Type.Optional(
      Type.String({ description: 'an ISO 8601 time; jobs created before', ...instantFormat }),
    ),
    limit: Type.Optional(
      queryInteger('page size', { min: 1, max: limits.pageSizeMax, default: limits.pageSizeDefault }),
    ),
    order: Type.Optional(
      oneOf(['desc', 'asc'], { description: 'desc (newest first) or asc', default: 'desc' }),
    ),
    cursor: Type.Optional(
      Type.String({ description: 'next_cursor of the page before, with the same filters' }),
    ),
  },
  open,
)
