// CORS: the headers that allow web pages of other origins to use a route.

/** The headers that let a page of any origin read the response. Such a page may be a client of OAuth or MCP. */
export const openToAnyOrigin = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' }

/** Answers a CORS preflight request. A browser sends a preflight request before some requests to another origin. */
export function preflightAnswer(methods: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...openToAnyOrigin,
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': '*, Authorization',
      'Access-Control-Max-Age': '86400',
    },
  })
}
