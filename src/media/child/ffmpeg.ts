// Combines the functions and the constants of the library node-av in one object.

import * as constants from 'node-av/constants'
import * as library from 'node-av/lib'

export const ffmpeg = { ...library, ...constants }
export type FFmpeg = typeof ffmpeg
