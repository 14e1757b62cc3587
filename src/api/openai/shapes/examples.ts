// Examples for the schemas of OpenAI's interface, by the names of the schemas.

import { text } from '../../shapes/example-job.ts'

export const openAiExamples: Record<string, object> = {
  OpenAiTranscription: {
    text,
    languages: [{ code: 'en' }],
    usage: { type: 'duration', seconds: 61 },
  },
  OpenAiModelList: {
    object: 'list',
    data: [{ id: 'whisper-1', object: 'model', created: 1_772_443_800, owned_by: 'steno' }],
  },
  OpenAiModel: { id: 'whisper-1', object: 'model', created: 1_772_443_800, owned_by: 'steno' },
  OpenAiError: {
    error: {
      message: "Missing required parameter: 'file'.",
      type: 'invalid_request_error',
      param: 'file',
      code: 'missing_required_parameter',
    },
  },
}
