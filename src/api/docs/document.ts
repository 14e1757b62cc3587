// The types of an OpenAPI document, as far as the docs page shows it.

export type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  default?: unknown
  examples?: unknown[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  pattern?: string
  format?: string
}

export type Parameter = { name: string; in: string; required: boolean; description?: string; schema?: Schema }

export type Operation = {
  operationId: string
  summary?: string
  description?: string
  tags: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema?: Schema }> }>
}

export type Document = {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Pick<Operation, 'summary' | 'requestBody'> }>
  components: { schemas: Record<string, Schema> }
}

export type Endpoint = { method: string; path: string; operation: Operation }

export function endpointsOf({ paths }: Document): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** Returns the component to which a schema with `$ref` refers. Returns a schema without `$ref` unchanged. */
export function resolve({ components }: Document, schema: Schema): Schema {
  const name = refName(schema)
  return name === null ? schema : (components.schemas[name] ?? {})
}

/** Returns the name of the component to which a schema refers, or null for a schema without `$ref`. */
export function refName({ $ref }: Schema): string | null {
  return $ref === undefined ? null : ($ref.split('/').at(-1) ?? null)
}
