// The compression ratio of a text. Repeated text has a high ratio.

/**
 * Returns the compression ratio: the length of the text in bytes, divided by its length in the zlib format. This format
 * adds 6 bytes to the result of deflate. Before deflate, each character below U+2E80, such as a letter, is encoded as
 * one byte, and each other character, such as an ideograph, as two bytes. UTF-8 is not used, because the letters of a
 * script such as Georgian have the same first bytes in UTF-8, so normal text in this script would look like text that
 * repeats. Returns 0 for an empty text.
 */
export function compressionOf(text: string): number {
  const bytes = Uint8Array.from([...text].flatMap(bytesOf))
  return bytes.length === 0 ? 0 : bytes.length / (Bun.deflateSync(bytes).length + 6)
}

const firstIdeograph = 0x2e80

function bytesOf(character: string): number[] {
  const code = character.codePointAt(0) ?? 0
  return code < firstIdeograph ? [code & 255] : [(code >> 8) & 255, code & 255]
}
