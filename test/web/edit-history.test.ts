import { expect, test } from 'bun:test'
import { EditHistory } from '../../src/web/transcript/edit-history.ts'

const typed = (before: string, after: string, utterance = 0) => ({ utterance, before, after })

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

test('a change of a text or name that another person has changed since then is neither undone nor redone', () => {
  const history = new EditHistory()
  history.add({ changes: [typed('a', 'b', 0), typed('a', 'b', 1)] })
  history.add({ changes: [typed('b', 'c', 0)] })
  history.add({ changes: [], rename: { speaker: 'SPEAKER 1', before: 'SPEAKER 1', after: 'Ann' } })
  history.add({ changes: [typed('c', 'd', 0)] })
  history.undo()
  history.forgetText(0)
  history.forgetName('SPEAKER 1')
  expect(history.canRedo.value).toBe(false)
  expect(history.undo()?.changes).toEqual([typed('a', 'b', 1)])
  expect(history.canUndo.value).toBe(false)
})
