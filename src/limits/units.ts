// The units in which the limits are written: milliseconds and bytes.

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
export const KB = 1024
export const MB = 1024 ** 2
export const GB = 1024 ** 3
