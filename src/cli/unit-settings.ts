// Reads the settings file of the installed service as systemd does (EnvironmentFile= in systemd.exec). The character #
// inside a value is part of the value, for example of a password. So a comment needs a line of its own.

/**
 * An assignment. The value has quoted parts first, and then text without quotes up to the end of the line. Either of
 * the two may be missing. A quoted part without an end goes to the end of the file, which `(?![\s\S])` matches.
 */
const assignment =
  /^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*((?:'[^']*(?:'[ \t]*|(?![\s\S]))|"(?:\\[\s\S]|[^"\\])*(?:"[ \t]*|\\?(?![\s\S])))*)((?:\\[\s\S]|[^\\\n])*)/gm

const quoted = /'([^']*)'?|"((?:\\[\s\S]|[^"\\])*)"?/g

/** Returns the variables of a settings file. Of two assignments to a variable, the second one counts. */
export function parseUnitSettings(text: string): Record<string, string> {
  const lines = text.replaceAll('\r', '\n')
  return Object.fromEntries(
    [...lines.matchAll(assignment)].map(([, name = '', parts = '', rest = '']) => [
      name,
      `${unquoted(parts)}${plain(rest)}`,
    ]),
  )
}

/** Removes the quotes. In double quotes, a backslash escapes only `"`, `\`, a backtick, `$` and the end of a line. */
function unquoted(parts: string): string {
  return [...parts.matchAll(quoted)]
    .map(
      ([, single, double = '']) =>
        single ?? double.replace(/\\(["\\`$\n])/g, (_, escaped) => (escaped === '\n' ? '' : escaped)),
    )
    .join('')
}

/** Removes the backslashes of a value without quotes, and the spaces at its end that have no backslash. */
function plain(rest: string): string {
  return rest.replace(/\\([\s\S])|[ \t]+$/g, (_, escaped = '') => (escaped === '\n' ? '' : escaped))
}
