// The endpoints that list all models and describe one model, in OpenAI's format. The list contains the loaded model and
// the name whisper-1, which OpenAI's clients use.

import { Elysia } from 'elysia'
import { ApiError } from '../../errors.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from './shapes/models.ts'

/** The creation time of each model in the list: the start of this process, in seconds since 1970. */
const created = Math.floor(performance.timeOrigin / 1000)

export const models = (service: Service) => {
  const modelOf = (id: string) => ({ id, object: 'model' as const, created, owned_by: 'steno' })
  const ids = () => [...new Set([service.engine.state().model ?? [], 'whisper-1'].flat())]

  return new Elysia({ prefix: '/v1', tags: ['OpenAI'] })
    .use(gate(service))

    .get('/models', () => ({ object: 'list' as const, data: ids().map(modelOf) }), {
      account: 'openai',
      response: { 200: shapes.modelList },
      detail: about({ dialect: 'openai', summary: 'List the models, with the interface of OpenAI' }),
    })

    .get(
      '/models/:id',
      ({ params: { id } }) => {
        if (ids().includes(id)) return modelOf(id)
        throw new ApiError('MODEL_NOT_FOUND', `The model '${id.slice(0, 100)}' does not exist.`)
      },
      {
        account: 'openai',
        params: shapes.modelParam,
        response: { 200: shapes.model },
        detail: about({
          dialect: 'openai',
          summary: 'Read a model, with the interface of OpenAI',
          fails: ['MODEL_NOT_FOUND'],
        }),
      },
    )
}
