// Finds the phrases of a query in the text of an utterance.

import { type Phrase, searchWords } from './search-words.ts'

/** A part of a text. `from` is its first position, and `to` is the position after its end, in UTF-16 code units. */
export type Stretch = { from: number; to: number }

/**
 * A node of the trie of the phrases. The words on the path from the root to the node are the start of at least one
 * phrase.
 */
type Node = {
  next: Map<string, Node>
  /**
   * The suffix link of the Aho-Corasick algorithm: the node whose path is the longest suffix of this node's path that
   * is in the trie and shorter than the path itself. For the path `a b c`, this is the node of `b c`, or else of `c`,
   * or else the root. Null for the root.
   */
  back: Node | null
  /** The indexes of all phrases that equal the last words of this node's path. */
  phrases: number[]
}

/**
 * Finds phrases by the Aho-Corasick algorithm. It reads each word of a text about once, whatever the number of phrases.
 * A search by one phrase after the other takes 0.6 s for 200 phrases in 1000 texts.
 */
export class PhraseFinder {
  readonly #phrases: readonly Phrase[]
  readonly #root: Node

  constructor(phrases: readonly Phrase[]) {
    this.#phrases = phrases
    this.#root = trieOf(phrases)
  }

  /** Returns, for each phrase, how often it occurs in a text. */
  count(text: string): number[] {
    const counts = this.#phrases.map(() => 0)
    const words = searchWords(text).map(({ word }) => word)
    for (const { phrase } of this.#matches(words)) counts[phrase] = (counts[phrase] ?? 0) + 1
    return counts
  }

  /** Returns the parts of a text that match a phrase, in the order of the text. Overlapping matches become one part. */
  find(text: string): Stretch[] {
    const places = searchWords(text)
    const words = places.map(({ word }) => word)
    const marked = words.map(() => false)
    const joined = words.map(() => false)
    const ends = this.#phrases.map(() => 0)
    for (const { phrase, at, after } of this.#matches(words)) {
      // The previous match of the same phrase has already marked the words before `end`, so they are not marked again.
      const end = ends[phrase] ?? 0
      marked.fill(true, Math.max(at, end), after)
      joined.fill(true, Math.max(at, end - 1), after - 1)
      ends[phrase] = after
    }
    const found: Stretch[] = []
    for (const [index, { from, to }] of places.entries()) {
      const last = found.at(-1)
      if (!marked[index]) continue
      if (last && joined[index - 1]) last.to = to
      else found.push({ from, to })
    }
    return found
  }

  /** Yields each match: the index of the phrase, the index of its first word, and the index after its last word. */
  *#matches(words: readonly string[]): Generator<{ phrase: number; at: number; after: number }> {
    let node = this.#root
    for (const [index, word] of words.entries()) {
      node = extend(node, word) ?? this.#root
      for (const phrase of node.phrases) {
        const after = index + 1
        yield { phrase, at: after - (this.#phrases[phrase]?.length ?? 0), after }
      }
    }
  }
}

function trieOf(phrases: readonly Phrase[]): Node {
  const root = openNode()
  for (const [index, phrase] of phrases.entries()) {
    let node = root
    for (const word of phrase) {
      const next = node.next.get(word) ?? openNode()
      node.next.set(word, next)
      node = next
    }
    node.phrases.push(index)
  }
  // Sets `back` (the suffix link) of each node. Nodes near the root come first, because `extend` follows their links.
  const nodes = [root]
  for (const node of nodes) {
    for (const [word, next] of node.next) {
      next.back = (node.back && extend(node.back, word)) ?? root
      next.phrases.push(...next.back.phrases)
      nodes.push(next)
    }
  }
  return root
}

function openNode(): Node {
  return { next: new Map(), back: null, phrases: [] }
}

/**
 * Returns the node that follows `node` when the next word of a text is `word`. The path of a node is the list of words
 * from the root to the node. For a node with the path `a b` and the word `c`, returns the node with the path `a b c`,
 * or else `b c`, or else `c`. Returns null if none of them exists.
 */
function extend(node: Node, word: string): Node | null {
  for (let shorter: Node | null = node; shorter; shorter = shorter.back) {
    const next = shorter.next.get(word)
    if (next) return next
  }
  return null
}
