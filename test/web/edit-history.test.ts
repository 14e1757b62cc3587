import { expect, test } from 'bun:test'
import { EditHistory } from '../../src/web/transcript/edit-history.ts'

const typed = (before: string, after: string) => ({ utterance: 0, before, after })

test('keystrokes close together are one step, and a keystroke after an undo is a step of its own', () => {
  const history = new EditHistory()
  history.addTyped(typed('', 'a'))
  history.addTyped(typed('a', 'ab'))
  history.add({ changes: [typed('ab', 'xy')] })
  history.undo()
  history.addTyped(typed('ab', 'abc'))
  expect(history.canRedo.value).toBe(false)
  expect(history.undo()?.changes).toEqual([typed('ab', 'abc')])
  expect(history.undo()?.changes).toEqual([typed('', 'ab')])
})
