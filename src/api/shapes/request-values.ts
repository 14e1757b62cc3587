// The schemas of values in many requests. Elysia validates requests by the schemas of this folder. A field's
// description is also a part of the error message "NAME is not valid: DESCRIPTION".

import { documented } from '../../base/schema.ts'

/** The options for the schema of a request body. A body with unknown fields is refused. */
export const closed = { additionalProperties: false }

/**
 * The options for the schema of an id in a request. The validation accepts any text, so a malformed id gets the same
 * response as an unknown id.
 */
export const uuidFormat = documented({ format: 'uuid' })

/** The options for the schema of an http or https URL in a request. */
export const httpUrl = documented({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' })
