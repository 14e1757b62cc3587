// Errors after which a command ends with a special exit code, or without an error message.

/** The error for wrong arguments of a command. After this error, the program exits with `usageCode`. */
export class UsageError extends Error {}

export const usageCode = 2

/** The exit code for settings with which no start can succeed: EX_CONFIG in sysexits.h. */
export const wrongSettingCode = 78

/** The error of a command that has already printed the reason of its failure. */
export class Reported extends Error {}

/** The error of a command that was interrupted by Ctrl-C, SIGTERM or SIGHUP. */
export class Interrupted extends Error {}

export const interruptedCode = 130

/** The exit code that a shell shows for a program that SIGPIPE ended. */
export const readerClosedCode = 141
