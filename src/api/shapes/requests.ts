// The schemas of requests. Elysia validates requests by these schemas, and the OpenAPI document contains them. The
// description of a field is also a part of the error message "NAME is not valid: DESCRIPTION".

import { Type } from '@sinclair/typebox'
import { documented, nullable, oneOf, text } from '../../base/schema.ts'
import { jobStates } from '../../jobs/states.ts'
import { acceptedCodes } from '../../languages.ts'
import { limits } from '../../limits.ts'
import { contentTypes } from '../../media/formats.ts'
import { open, queryInteger } from './query-values.ts'

/** The options for the schema of a request body. A body with unknown fields is refused. */
export const closed = { additionalProperties: false }

/**
 * The characters that a filename may contain besides the dot: printable ASCII except the slash, the backslash, < > " '
 * and the backtick.
 */
const inFilename = ' !#-&(-\\-0-;=?-\\[\\]-_a-~'
const extensions = Object.keys(contentTypes).map(inAnyCase).join('|')
const filenamePattern = `^[.${inFilename}]*[${inFilename}]\\.(${extensions})$`

/** Returns a regular expression that matches a text in lower and upper case: `[mM][pP]3` for `mp3`. */
function inAnyCase(text: string): string {
  return text.replace(/[a-z]/g, letter => `[${letter}${letter.toUpperCase()}]`)
}

const instant = documented({ format: 'date-time' })
/**
 * The schema of an id in a request. The validation accepts any text. For a text that is not a UUID, the response is
 * later the error for an unknown id.
 */
const uuid = documented({ format: 'uuid' })
const httpUrl = documented({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' })

export const uploadRequest = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: limits.filenameLengthMax,
      description: 'an ASCII file name with one of the supported extensions',
      ...documented({ pattern: filenamePattern }),
    }),
  },
  { ...closed, $id: 'UploadRequest' },
)

export const transcribeRequest = Type.Object(
  {
    url: Type.Optional(
      nullable(
        Type.String({
          maxLength: limits.urlLengthMax,
          description: 'an http or https address of a media file',
          ...httpUrl,
        }),
      ),
    ),
    upload_id: Type.Optional(nullable(Type.String({ description: 'the id of an upload', ...uuid }))),
    language: Type.Optional(
      nullable(
        Type.String({
          description: 'a language code; detected when it is not given',
          ...documented({ enum: acceptedCodes }),
        }),
      ),
    ),
    diarize: Type.Optional(nullable(Type.Boolean({ description: 'tell speakers apart' }))),
    speaker_count: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: limits.speakerCountMax,
          description: 'how many speakers are expected; needs diarize',
        }),
      ),
    ),
    name_speakers: Type.Optional(
      nullable(
        Type.Boolean({
          description: 'name the speakers whose voices were enrolled with POST /v1/voices; needs diarize',
        }),
      ),
    ),
    align: Type.Optional(
      nullable(Type.Boolean({ description: 'times for each word; always on with diarize' })),
    ),
    prompt: Type.Optional(
      nullable(
        Type.String({
          maxLength: limits.promptLengthMax,
          description: 'text as it could stand before the recording: names, style, punctuation',
        }),
      ),
    ),
    vocabulary: Type.Optional(
      nullable(
        Type.Array(Type.String({ maxLength: limits.vocabularyTermLengthMax }), {
          maxItems: limits.vocabularyTermsMax,
          description: `terms that may be said, at most ${limits.vocabularyTermsMax} of ${limits.vocabularyTermLengthMax} characters`,
        }),
      ),
    ),
    channels: Type.Optional(
      nullable(
        oneOf(['mix', 'split'], {
          description: `mix, or split: each of up to ${limits.splitChannelsMax} channels is one speaker; without diarize`,
        }),
      ),
    ),
    metadata: Type.Optional(
      nullable(
        Type.Record(
          Type.String(),
          Type.String({
            maxLength: limits.metadataTextLengthMax,
            description: `a text of at most ${limits.metadataTextLengthMax} characters`,
          }),
          {
            maxProperties: limits.metadataFieldsMax,
            description: `texts of your own, at most ${limits.metadataFieldsMax}; jobs and webhooks show them`,
          },
        ),
      ),
    ),
    webhook_url: Type.Optional(
      nullable(
        Type.String({
          maxLength: limits.urlLengthMax,
          description: 'the address that events are sent to',
          ...httpUrl,
        }),
      ),
    ),
  },
  { ...closed, $id: 'TranscribeRequest', description: 'Exactly one of url and upload_id' },
)

const editedUtterance = Type.Object(
  {
    index: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'the index in result.utterances, from 0',
    }),
    text: Type.String({
      maxLength: limits.editedTextLengthMax,
      description: `what was said, at most ${limits.editedTextLengthMax} characters; empty for nothing`,
    }),
  },
  closed,
)

export const editRequest = Type.Object(
  {
    utterances: Type.Optional(
      Type.Array(editedUtterance, {
        maxItems: limits.editedUtterancesMax,
        description: `new texts, at most ${limits.editedUtterancesMax}; words keep their times where they stay the same`,
      }),
    ),
    speakers: Type.Optional(
      Type.Record(
        Type.String(),
        Type.String({
          minLength: 1,
          maxLength: limits.speakerNameLengthMax,
          description: `a name on one line, at most ${limits.speakerNameLengthMax} characters`,
        }),
        {
          maxProperties: limits.objectFieldsMax,
          description: 'the new name of each speaker; two speakers may get the same name',
        },
      ),
    ),
  },
  { ...closed, $id: 'EditRequest', description: 'At least one of utterances and speakers' },
)

export const editHeaders = Type.Object(
  {
    'if-match': Type.Optional(
      Type.String({ description: 'The ETag that was read: refuses the edit when somebody else was faster' }),
    ),
  },
  open,
)

export const newPassword = text({
  minLength: limits.passwordLengthMin,
  maxLength: limits.passwordLengthMax,
  description: `a password of at least ${limits.passwordLengthMin} characters`,
})

export const accountRequest = Type.Object(
  {
    email: Type.String({
      maxLength: limits.emailLengthMax,
      description: 'an e-mail address',
      ...documented({ format: 'email' }),
    }),
    password: newPassword,
  },
  { ...closed, $id: 'AccountRequest' },
)

export const signIn = Type.Object(
  {
    email: Type.Optional(Type.String({ maxLength: limits.emailLengthMax, description: 'an e-mail address' })),
    password: Type.Optional(
      Type.String({ maxLength: limits.passwordLengthMax, description: 'the password of the account' }),
    ),
    key: Type.Optional(Type.String({ maxLength: limits.passwordLengthMax, description: 'an API key' })),
  },
  { ...closed, $id: 'SignIn', description: 'Either email and password, or key' },
)

export const voiceRequest = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.speakerNameLengthMax,
      description: `a name of at most ${limits.speakerNameLengthMax} characters, without line breaks and -->`,
      pattern: '^(?!\\s)(?!SPEAKER \\d+$)(?!.*-->)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$',
    }),
    upload_id: Type.Optional(
      Type.String({ description: 'the id of an upload in which one person speaks', ...uuid }),
    ),
    transcription_id: Type.Optional(
      Type.String({ description: 'the id of a completed transcription with diarize', ...uuid }),
    ),
    speaker: Type.Optional(
      Type.String({
        maxLength: limits.speakerNameLengthMax,
        description: 'the speaker of that transcription, such as SPEAKER 1',
      }),
    ),
  },
  { ...closed, $id: 'VoiceRequest', description: 'Either upload_id, or transcription_id and speaker' },
)

export const voiceParam = Type.Object({ id: Type.String({ description: 'The id of the voice', ...uuid }) })

export const idParam = Type.Object({
  id: Type.String({ description: 'The id of the transcription', ...uuid }),
})

export const deliveryParam = Type.Object({ id: Type.String({ description: 'The id of the delivery' }) })

export const uploadParam = Type.Object({ id: Type.String({ description: 'The id of the upload' }) })

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

export const signedQuery = Type.Object(
  {
    expires: Type.Optional(Type.String({ description: 'Part of the signed address' })),
    signature: Type.Optional(Type.String({ description: 'Part of the signed address' })),
  },
  open,
)

export const listQuery = Type.Object(
  {
    status: Type.Optional(oneOf(jobStates, { description: `one of ${jobStates.join(', ')}` })),
    from: Type.Optional(
      Type.String({ description: 'an ISO 8601 time; jobs created then or later', ...instant }),
    ),
    to: Type.Optional(Type.String({ description: 'an ISO 8601 time; jobs created before', ...instant })),
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

export const searchQuery = Type.Object(
  {
    q: Type.String({ description: 'words to find; words in double quotes must follow each other' }),
    order: Type.Optional(
      oneOf(['newest', 'best'], {
        description: `newest, or best: the best matches of the newest ${limits.searchRankedMax} utterances`,
        default: 'newest',
      }),
    ),
    limit: Type.Optional(
      queryInteger('page size', {
        min: 1,
        max: limits.searchPageSizeMax,
        default: limits.searchPageSizeDefault,
      }),
    ),
    cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before, with the same q' })),
  },
  open,
)
