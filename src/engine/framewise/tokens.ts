// Reads the vocabulary file of a framewise model (CTC or TDT). Each line has one token and its number.

/**
 * The vocabulary: the text of each token, by its number. A token at the start of a word begins with a space, unless the
 * space is a token of its own.
 */
export type Tokens = readonly string[]

/** Parses the vocabulary file of a model. The path of the file is used only in error messages. */
export function parseTokens(content: string, path: string): Tokens {
  const tokens: string[] = []
  for (const [index, line] of content.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, token = '', digits = ''] = /^(?:(.*) )?(\d+)\s*$/.exec(line) ?? []
    if (digits === '') throw new Error(`${path}: line ${index + 1} is not a token and its number`)
    // A line with only a number stands for the token of a space.
    tokens[Number(digits)] = token.trim() === '' ? ' ' : token.replaceAll('▁', ' ')
  }
  const gap = [...tokens.keys()].find(number => !(number in tokens))
  if (tokens.length === 0 || gap !== undefined) throw new Error(`${path} has no token ${gap ?? 0}`)
  return tokens
}

/** Returns true if the token is a control token, such as `<unk>`. A control token has no text. */
export function isControl(token: string): boolean {
  return /^<.+>$/.test(token.trim())
}

const blankNames = ['<blk>', '<blank>', '<s>']

/** Returns the number of the blank token, or -1 if the vocabulary has none. */
export function findBlank(tokens: Tokens): number {
  return blankNames.map(name => tokens.indexOf(name)).find(number => number >= 0) ?? -1
}
