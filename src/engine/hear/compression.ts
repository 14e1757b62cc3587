// The compression ratio of a text. Repeated text has a high ratio.

/**
 * Returns the compression ratio: the length of the text in bytes, divided by its length in the zlib format. Returns 0
 * for an empty text. The zlib format adds 6 bytes to the result of deflate.
 *
 * Before deflate, each character below U+2E80 becomes one byte, and each other character, such as an ideograph, two
 * bytes. UTF-8 is not used, because it gives all letters of a script such as Georgian the same first bytes. Normal text
 * in this script would look like repeated text.
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
