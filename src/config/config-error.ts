/** The error for settings with which no start can succeed. After this error, the program exits with `wrongSettingCode`. */
export class ConfigError extends Error {}
