// Stores values in the browser's local storage. If the browser refuses a value, it is only in memory until the page is
// closed.

import { effect, type Signal, signal } from '@preact/signals'

const memory = new Map<string, string>()

export function stored<Value>(name: string): Value | null {
  try {
    const text = memory.get(name) ?? localStorage.getItem(`steno.${name}`)
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

export function store(name: string, value: unknown): void {
  const text = JSON.stringify(value)
  try {
    localStorage.setItem(`steno.${name}`, text)
    memory.delete(name)
  } catch {
    memory.set(name, text)
  }
}

/**
 * Returns a signal whose value is kept in local storage. Its first value is the stored value, or `initial` if there is
 * none.
 */
export function storedSignal<Value>(name: string, initial: Value): Signal<Value> {
  const value = signal(stored<Value>(name) ?? initial)
  effect(() => store(name, value.value))
  return value
}

export function forget(name: string): void {
  memory.delete(name)
  try {
    localStorage.removeItem(`steno.${name}`)
  } catch {
    // The browser refuses local storage, so it contains no value. The value was only in `memory`, and is already
    // deleted.
  }
}

/**
 * Returns the stored names that begin with `start`. If the browser refuses local storage, searches the names in memory.
 */
export function storedNames(start: string): string[] {
  try {
    return Object.keys(localStorage)
      .filter(name => name.startsWith(`steno.${start}`))
      .map(name => name.slice('steno.'.length))
  } catch {
    return [...memory.keys()].filter(name => name.startsWith(start))
  }
}
