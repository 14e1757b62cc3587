// Adds an attachment to a Matroska file.

const firstCluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75])

/**
 * Returns the file with an attachment before its first cluster, which contains the first packets. The header of the
 * given file must not contain the length of the file, because the attachment would make this length wrong.
 */
export function withAttachment(file: Buffer, bytes: number): Buffer {
  const attachment = Buffer.concat([
    element('466e', Buffer.from('font.ttf')),
    element('4660', Buffer.from('font/ttf')),
    element('46ae', Buffer.from([1])),
    element('465c', Buffer.alloc(bytes)),
  ])
  const at = file.indexOf(firstCluster)
  return Buffer.concat([
    file.subarray(0, at),
    element('1941a469', element('61a7', attachment)),
    file.subarray(at),
  ])
}

/** Returns a Matroska element. The size of the element is written as a number of eight bytes. */
function element(id: string, content: Buffer): Buffer {
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(content.length))
  size[0] = 1
  return Buffer.concat([Buffer.from(id, 'hex'), size, content])
}
