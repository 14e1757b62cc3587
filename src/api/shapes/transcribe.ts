// The schemas of POST /v1/transcribe.

import { Type } from '@sinclair/typebox'
import { documented, nullable, oneOf, record, text } from '../../base/schema.ts'
import { acceptedCodes } from '../../languages.ts'
import { limits } from '../../limits.ts'
import { answer, uuid } from './answer-values.ts'
import { closed, httpUrl, uuidFormat } from './request-values.ts'

export const accepted = answer(
  'Accepted',
  Type.Object({ id: uuid, status: Type.Literal('created'), message: Type.String() }),
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
    upload_id: Type.Optional(nullable(Type.String({ description: 'the id of an upload', ...uuidFormat }))),
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
        text({
          maxLength: limits.promptLengthMax,
          description: 'text as it could stand before the recording: names, style, punctuation',
        }),
      ),
    ),
    vocabulary: Type.Optional(
      nullable(
        Type.Array(text({ maxLength: limits.vocabularyTermLengthMax }), {
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
        record(
          text({
            maxLength: limits.metadataTextLengthMax,
            description: `a text of at most ${limits.metadataTextLengthMax} characters`,
          }),
          {
            maxProperties: limits.metadataFieldsMax,
            description: `at most ${limits.metadataFieldsMax} texts of up to ${limits.metadataTextLengthMax} characters, with names of up to ${limits.metadataNameLengthMax}; jobs and webhooks show them`,
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
