// The response header WWW-Authenticate for a request whose credential is refused.

import type { Service } from '../service.ts'

/**
 * Returns the header WWW-Authenticate with the address of the OAuth metadata document. The document tells a client how
 * to get a token.
 */
export function challenge(service: Service, request: Request, error = ''): Record<string, string> {
  return { 'WWW-Authenticate': `Bearer ${error}resource_metadata="${metadataUrl(service.baseUrl(request))}"` }
}

/** Returns the address of the OAuth metadata document. */
export function metadataUrl(baseUrl: string): string {
  return `${baseUrl}/.well-known/oauth-protected-resource`
}
