// The resources for which a client may ask a token (RFC 8707): the whole service, or its MCP endpoint.

/** Returns the resource that a client named, in the form in which grants keep it, or null for another one. */
export function resourceOf(text: string, baseUrl: string): string | null {
  const url = URL.parse(text)
  if (!url || text.includes('#')) return null
  const named = url.href.replace(/\/$/, '')
  return [baseUrl, mcpUrl(baseUrl)].includes(named) ? named : null
}

export function mcpUrl(baseUrl: string): string {
  return `${baseUrl}/mcp`
}
