// The compression ratio of a text. Repeated text has a high ratio.

/** Returns the length of the text in bytes, divided by its length in the zlib format. Returns 0 for an empty text. */
export function compressionOf(text: string): number {
  const bytes = Uint8Array.from([...text].flatMap(bytesOf))
  // The zlib format is the result of deflate and 6 more bytes.
  return bytes.length === 0 ? 0 : bytes.length / (Bun.deflateSync(bytes).length + 6)
}

const firstIdeograph = 0x2e80

/**
 * Returns the bytes of a character: two for a character from U+2E80 on, such as an ideograph, and otherwise one. UTF-8
 * is not used: it gives all letters of a script such as Georgian the same first bytes, so normal text would look like
 * repeated text.
 */
function bytesOf(character: string): number[] {
  const code = character.codePointAt(0) ?? 0
  return code < firstIdeograph ? [code & 255] : [(code >> 8) & 255, code & 255]
}
