// Checks the accessibility of pages with axe, in both themes and in windows of several widths.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CDPSession, Page } from 'playwright-core'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The theme, and the width of the window in pixels. */
export type Look = ['light' | 'dark', number]

/**
 * Changes the look of a loaded page. The page must have reduced motion, because the accessibility checker axe could
 * otherwise measure a colour during its transition.
 */
export async function setLook(page: Page, [colorScheme, width]: Look): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: 900 })
}

/**
 * Returns a text for each accessibility fault of the page, and a text if the page is wider than the window. Each text
 * begins with `where`. axe runs in an isolated world, in which the content security policy does not apply.
 */
export async function findFaults(
  page: Page,
  session: CDPSession,
  where: (string | number)[],
): Promise<string[]> {
  const { frameTree } = await session.send('Page.getFrameTree')
  // The first call for a document creates the isolated world. Later calls return the same world.
  const world = { frameId: frameTree.frame.id, worldName: 'axe' }
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world)
  const { result: isReady } = await session.send('Runtime.evaluate', {
    expression: "'axe' in globalThis",
    contextId,
  })
  if (!isReady.value) await session.send('Runtime.evaluate', { expression: axe, contextId })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, any }) => id + ': ' + target + ' ' + (any[0]?.message ?? ''))))`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  })
  const overflow = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  const wide = overflow ? ['the page is wider than the window'] : []
  return [...(result.value as string[]), ...wide].map(fault => `${where.join(' ')}: ${fault}`)
}
