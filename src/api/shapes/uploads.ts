// The schemas of uploads to a signed address.

import { Type } from '@sinclair/typebox'
import { documented, record } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { contentTypes } from '../../media/formats.ts'
import { answer, uuid } from './answer-values.ts'
import { open } from './query-values.ts'
import { closed } from './request-values.ts'

export const upload = answer(
  'Upload',
  Type.Object({
    upload_id: uuid,
    upload_url: Type.String({
      format: 'uri',
      description: 'Where to send the bytes; no key is needed there',
    }),
    expires_in: Type.Integer({ description: 'Seconds' }),
    method: Type.Literal('PUT'),
    headers: record(Type.String(), { description: 'To be sent with the PUT' }),
  }),
)

export const stored = answer('Stored', Type.Object({ upload_id: uuid, file_size_bytes: Type.Integer() }))

/** The characters that a filename may contain besides the dot: printable ASCII except / \ < > " ' and the backtick. */
const inFilename = ' !#-&(-\\-0-;=?-\\[\\]-_a-~'
const extensions = Object.keys(contentTypes).map(inAnyCase).join('|')
const filenamePattern = `^[.]*[${inFilename}][.${inFilename}]*\\.(${extensions})$`

/** Returns a regular expression that matches a text in lower and upper case: `[mM][pP]3` for `mp3`. */
function inAnyCase(text: string): string {
  return text.replace(/[a-z]/g, letter => `[${letter}${letter.toUpperCase()}]`)
}

export const uploadRequest = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: limits.filenameLengthMax,
      description: `an ASCII file name of up to ${limits.filenameLengthMax} characters with one of the supported extensions`,
      ...documented({ pattern: filenamePattern }),
    }),
  },
  { ...closed, $id: 'UploadRequest' },
)

export const uploadParam = Type.Object({ id: Type.String({ description: 'The id of the upload' }) })

export const signedQuery = Type.Object(
  {
    expires: Type.Optional(Type.String({ description: 'Part of the signed address' })),
    signature: Type.Optional(Type.String({ description: 'Part of the signed address' })),
  },
  open,
)
