// The vocabulary of a framewise model: a text file with one token and its number in each line.

/** The text of each token, by its number. A token that starts a word begins with a space. */
export type Tokens = readonly string[]

/** Parses the vocabulary. `path` is the path of the file, for error messages. */
export function parseTokens(content: string, path: string): Tokens {
  const tokens: string[] = []
  for (const [index, line] of content.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, token = '', digits = ''] = /^(?:(.*) )?(\d+)\s*$/.exec(line) ?? []
    if (digits === '') throw new Error(`${path}: line ${index + 1} is not a token and its number`)
    // A line without a token, with only a number, stands for the token of a space.
    tokens[Number(digits)] = token.trim() === '' ? ' ' : token.replaceAll('▁', ' ')
  }
  const gap = [...tokens.keys()].find(number => !(number in tokens))
  if (tokens.length === 0 || gap !== undefined) throw new Error(`${path} has no token ${gap ?? 0}`)
  return tokens
}

/** Returns true if the token stands for no text, such as `<unk>`. */
export function isControl(token: string): boolean {
  return /^<.+>$/.test(token.trim())
}

const blankNames = ['<blk>', '<blank>', '<s>']

/** Returns the number of the blank token. Returns -1 if the vocabulary has no blank token. */
export function findBlank(tokens: Tokens): number {
  return blankNames.map(name => tokens.indexOf(name)).find(number => number >= 0) ?? -1
}
