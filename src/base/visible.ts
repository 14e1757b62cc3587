/**
 * Escapes the control characters in a text that another person has chosen, such as a file name. On a terminal, such
 * characters could move the cursor or start another line.
 */
export function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, character => {
    const escaped = JSON.stringify(character).slice(1, -1)
    // JSON leaves the characters from U+007F to U+009F as they are, but some terminals obey these characters too.
    return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped
  })
}

/** Returns a path or a web address for a message, without the user name and the password of the address. */
export function visiblePlace(place: string): string {
  return visible(withoutPassword(place))
}

/**
 * Returns a web address without its user name and password. Also removes them from a malformed address, such as one
 * with a port that is too high. Returns any other text as it is.
 */
export function withoutPassword(address: string): string {
  const url = URL.parse(address)
  if (url === null) return address.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, '$1')
  if (url.username === '' && url.password === '') return address
  url.username = ''
  url.password = ''
  return url.href
}
