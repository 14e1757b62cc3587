// Changes the serial number in the pages of an Ogg file, so that tests can join several files into a chain: one file
// with several streams, one after the other.

const headBytes = 27

/**
 * Returns the file with another serial number. In a file with several streams, each stream has its own serial number.
 */
export function withSerial(file: Buffer, serial: number): Buffer {
  const changed = Buffer.from(file)
  for (let at = 0; at < changed.length; ) {
    const page = changed.subarray(at, at + pageBytes(changed, at))
    page.writeUInt32LE(serial, 14)
    page.writeUInt32LE(0, 22)
    page.writeUInt32LE(checksum(page), 22)
    at += page.length
  }
  return changed
}

/** Returns the size of the page at the offset `at`. The sizes of the page's segments are at the end of its header. */
function pageBytes(file: Buffer, at: number): number {
  const segments = file.readUInt8(at + 26)
  const sizes = file.subarray(at + headBytes, at + headBytes + segments)
  return headBytes + segments + sizes.reduce((sum, size) => sum + size, 0)
}

/** Returns the 32-bit CRC of a page, with the highest bit first. zlib computes a different CRC. */
function checksum(page: Buffer): number {
  let sum = 0
  for (const byte of page) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum < 0 ? 0x04c11db7 : 0)
  }
  return sum >>> 0
}
