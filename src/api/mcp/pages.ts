// Divides a text into pages for an assistant.

import { limits } from '../../limits.ts'

/**
 * Divides a text into pages of at most `toolPageCharacters` characters. Each page except the last ends at the last
 * possible line end. Without a line end, the page ends at a space. Without a space, the page is as long as possible.
 */
export function cutPages(text: string): string[] {
  const pages: string[] = []
  let rest = text
  while (rest.length > limits.toolPageCharacters) {
    const lineEnd = rest.lastIndexOf('\n', limits.toolPageCharacters - 1) + 1
    const space = rest.lastIndexOf(' ', limits.toolPageCharacters - 1) + 1
    // A page must not end between the two code units of one character (a surrogate pair).
    const half = /[\ud800-\udbff]/.test(rest[limits.toolPageCharacters - 1] ?? '') ? 1 : 0
    const end = lineEnd || space || limits.toolPageCharacters - half
    pages.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...pages, rest || '(No speech was found.)\n']
}
