// The resources for which a client may request a token (RFC 8707): the whole service, and the MCP endpoint.

/** Returns the normalised address of a resource, or null when the address is not a resource of this service. */
export function resourceOf(text: string, baseUrl: string): string | null {
  const url = URL.parse(text)
  if (!url) return null
  const named = url.href.replace(/\/$/, '')
  return [baseUrl, mcpUrl(baseUrl)].includes(named) ? named : null
}

export function mcpUrl(baseUrl: string): string {
  return `${baseUrl}/mcp`
}
