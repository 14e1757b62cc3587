// The schemas of the models in OpenAI's format.

import { Type } from '@sinclair/typebox'

export const model = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix time since which this process offers the model' }),
    owned_by: Type.String(),
  },
  { $id: 'OpenAiModel' },
)

export const modelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(model) },
  { $id: 'OpenAiModelList' },
)

export const modelParam = Type.Object({ id: Type.String({ description: 'The id of the model' }) })
