// Checks the disk space for more media files. `diskReserveBytes` of the disk must stay free for the database. All media
// files of one account together may have at most `accountDiskBytes`.

import { diskSpace } from '../base/disk-space.ts'
import { formatSize } from '../base/units.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { ApiError, JobFailure } from '../errors.ts'

export type RoomSettings = Pick<Config, 'dataDir' | 'accountDiskBytes' | 'diskReserveBytes'>

export const noRoom = 'The disk of this service has no room left; try again later.'

/** Throws an ApiError if `bytes` more bytes would leave less than `diskReserveBytes` free on the disk. */
export function requireDisk(settings: RoomSettings, bytes: number): void {
  if (!hasDisk(settings, bytes)) throw new ApiError('INSUFFICIENT_STORAGE', noRoom)
}

/**
 * Throws a JobFailure if less than `diskReserveBytes` of the disk is free. Jobs call this function while they download
 * media.
 */
export function requireDiskForJob(settings: RoomSettings): void {
  if (!hasDisk(settings, 0)) throw new JobFailure('INTERNAL_ERROR', noRoom)
}

/** Returns a message if `bytes` more bytes would exceed the disk quota of the account, otherwise null. */
export function excessOf(
  db: Db,
  accountId: string,
  { accountDiskBytes }: RoomSettings,
  bytes: number,
): string | null {
  if (sumMedia(db, accountId) + bytes <= accountDiskBytes) return null
  const most = formatSize(accountDiskBytes)
  return `Your media would take more than ${most}; delete transcriptions, or wait until old media is removed.`
}

function hasDisk({ dataDir, diskReserveBytes }: RoomSettings, bytes: number): boolean {
  return diskSpace(dataDir).free - bytes >= diskReserveBytes
}

/**
 * Returns the size in bytes of the media of an account, or of all accounts if `accountId` is null. Counts the media of
 * jobs and the unused uploads. An incomplete upload counts with its declared size, if it has one.
 */
export function sumMedia(db: Db, accountId: string | null): number {
  const own = accountId === null ? '' : 'account_id = $accountId and'
  // Without `indexed by`, SQLite would read all unused uploads. Most of them have no bytes.
  const index = accountId === null ? 'indexed by uploads_with_bytes' : ''
  const row = db.find<{ bytes: number }>(
    `select (select coalesce(sum(file_bytes), 0) from jobs where ${own} media_kept = 1)
       + (select coalesce(sum(coalesce(file_bytes, declared_bytes)), 0) from uploads ${index}
         where ${own} used_at is null and coalesce(file_bytes, declared_bytes) is not null) as bytes`,
    accountId === null ? {} : { accountId },
  )
  return row?.bytes ?? 0
}
