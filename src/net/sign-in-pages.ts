// Recognises the addresses of sign-in pages. A server often redirects to such a page if a file is not public.

const signInHosts =
  /^(accounts\.google\.com|login\.(microsoftonline|live|microsoft|yahoo)\.com|account\.box\.com|(appleid|idmsa)\.apple\.com|.*\.(okta|auth0|onelogin)\.com)$/

const signInPaths = /\/(log-?in|sign-?in|sso|saml2?|oauth2?|authorize|servicelogin)([/.]|$)/i

/** Returns true if the URL looks like the address of a sign-in page. */
export function isSignIn(url: URL): boolean {
  return signInHosts.test(url.hostname) || signInPaths.test(url.pathname)
}
