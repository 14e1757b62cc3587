import { statfsSync } from 'node:fs'

/**
 * Returns the free and the whole space of the disk of a folder, in bytes. Space that the file system keeps for root is
 * not free.
 */
export function diskSpace(folder: string): { free: number; total: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}
