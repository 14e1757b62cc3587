import { afterEach, expect, test } from 'bun:test'
import { store, stored } from '../../src/web/base/storage.ts'

const real = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')

afterEach(() => {
  if (real) Object.defineProperty(globalThis, 'localStorage', real)
  else Reflect.deleteProperty(globalThis, 'localStorage')
})

test('a value that another page deleted is not read from the memory of this page', () => {
  const values = new Map<string, string>()
  const localStorage = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => values.set(name, value),
  }
  Object.defineProperty(globalThis, 'localStorage', { value: localStorage, configurable: true })
  store('edits.1', 'draft')
  expect(stored<string>('edits.1')).toBe('draft')
  values.clear()
  expect(stored<string>('edits.1')).toBeNull()
})
