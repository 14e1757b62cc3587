// Decodes percent-encoded text, such as `a%20b`.

/**
 * Returns the decoded text. Returns null if a percent sign lacks its two hexadecimal digits, or if the bytes are not
 * UTF-8.
 */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
