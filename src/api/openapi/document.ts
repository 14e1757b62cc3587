// Builds the OpenAPI 3.1 document. The plugin @elysiajs/openapi collects the routes and their parameters. This file
// adds the security schemes, the webhooks and the details of the routes.

import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import type { AnyElysia } from 'elysia'
import { keyStart } from '../../accounts/key.ts'
import type { Scope } from '../../accounts/scope.ts'
import { routesOf, templateOf } from '../route.ts'
import { errorBody } from '../shapes/answer-values.ts'
import { apiVersion } from '../version.ts'
import { openComponents, version } from './components.ts'
import { headerComponents } from './headers.ts'
import { operation } from './operation.ts'
import { webhooks } from './webhooks.ts'

/** Builds the document of an app, without the parts that contain the base URL of the service. */
export function describe(app: AnyElysia): Description {
  const components = openComponents()
  const { paths } = toOpenAPISchema(app, {}, undefined, undefined, version) as unknown as Collected
  for (const route of routesOf(app)) {
    const methods = paths[templateOf(route.path)] ?? {}
    const method = route.method.toLowerCase()
    methods[method] = operation(route, methods[method] ?? {}, components)
  }
  components.openReference(errorBody)
  return {
    openapi: version,
    info: {
      title: 'steno',
      version: apiVersion,
      description: 'Recorded audio and video in, text with speakers, word times and subtitles out.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    webhooks: webhooks(components),
    components: {
      schemas: components.schemas,
      headers: headerComponents(),
    },
  }
}

/** Returns a document with the addresses of the service, which depend on the base URL of the request. */
export function withAddresses(
  { openapi, info, components, ...others }: Description,
  baseUrl: string,
): object {
  return {
    openapi,
    info,
    servers: [{ url: baseUrl }],
    ...others,
    components: { ...components, securitySchemes: securitySchemes(baseUrl) },
  }
}

function securitySchemes(baseUrl: string): object {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: `Authorization: ${keyStart}…, with or without Bearer`,
    },
    apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    oauth: {
      type: 'oauth2',
      description: 'Access tokens for programs that act for an account',
      flows: {
        authorizationCode: {
          authorizationUrl: `${baseUrl}/oauth/authorize`,
          tokenUrl: `${baseUrl}/oauth/token`,
          refreshUrl: `${baseUrl}/oauth/token`,
          scopes: scopeMeanings,
        },
      },
    },
  }
}

/** An OpenAPI document without the addresses of the service. */
export type Description = { openapi: string; info: object; components: object; [field: string]: unknown }

type Collected = { paths: Record<string, Record<string, object>> }

const scopeMeanings: Record<Scope, string> = {
  read: 'Read transcriptions, transcripts and the balance',
  write: 'Start, change, cancel and delete transcriptions',
}
