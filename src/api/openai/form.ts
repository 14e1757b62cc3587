// Receives the form of an audio request. The file of the form is written to the disk, and the other fields stay in
// memory.

import { joinChunks } from '../../base/join-chunks.ts'
import { readMultipart } from '../../base/multipart.ts'
import { boundaryOf, MultipartError, type Part } from '../../base/multipart-head.ts'
import { ApiError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { HeldFile } from '../../uploads/form-files.ts'
import type { UploadStore } from '../../uploads/store.ts'
import { requireUncompressed } from '../gate/body.ts'
import { invalidField, OpenAiError } from './errors.ts'
import { Fields, missing } from './fields.ts'

/**
 * The size of a field, for the limit `formFieldsBytesMax`, is the size of its name and value plus this number of bytes.
 * Otherwise, a form within the limit could have a huge number of empty fields.
 */
const partBytes = 64

/** A complete form. `filename` is the name that the sender gave to the file. */
type Form = { fields: Fields; file: HeldFile; filename: string }

/**
 * Reads the form of a request and passes it to `use`. Afterwards removes the file of the form, unless `use` called
 * `file.keep`. Throws an ApiError if the form is not valid.
 */
export async function withForm<Result>(
  uploads: UploadStore,
  accountId: string,
  request: Request,
  use: (form: Form) => Promise<Result>,
): Promise<Result> {
  const boundary = boundaryOf(request.headers.get('content-type') ?? '')
  if (boundary === null)
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the request as multipart/form-data with a boundary.', {
      'Accept-Post': 'multipart/form-data',
    })
  requireUncompressed(request.headers)
  const bytesDeclared = Number(request.headers.get('content-length') ?? 0)
  const chunks = uploads.forms.chunksOf(accountId, request.body, bytesDeclared)
  using files = new DisposableStack()
  const form = await readForm(uploads, readMultipart(chunks, boundary), files).catch(error => {
    throw error instanceof MultipartError ? new OpenAiError('INVALID_REQUEST', error.message, {}) : error
  })
  return await use(form)
}

async function readForm(
  uploads: UploadStore,
  parts: AsyncIterable<Part>,
  files: DisposableStack,
): Promise<Form> {
  const fields = new Fields()
  let file: HeldFile | null = null
  let filename = ''
  let left: number = limits.formFieldsBytesMax
  for await (const part of parts) {
    if (part.name !== 'file' && part.filename !== null)
      throw invalidField(part.name.slice(0, 100), 'A file is accepted only as the field file.')
    if (part.name === 'file') {
      if (file) throw invalidField('file', 'The form has more than one file.')
      file = files.use(await uploads.forms.hold(part.body))
      filename = part.filename ?? ''
    } else {
      const value = await readField(part, left)
      left -= value.byteLength + part.name.length + partBytes
      fields.add(part.name, value.toString('utf8'))
    }
  }
  if (!file) throw missing('file')
  if (file.fileBytes === 0) throw invalidField('file', 'The file is empty.')
  return { fields, file, filename }
}

async function readField({ name, body }: Part, bytesMax: number): Promise<Buffer> {
  const value = await joinChunks(body, bytesMax - name.length)
  if (value !== null) return Buffer.from(value)
  throw invalidField(
    name.slice(0, 100),
    `The fields of the form are larger than ${limits.formFieldsBytesMax / 1024} KB.`,
  )
}
