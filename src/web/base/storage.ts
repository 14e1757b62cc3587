// Values that the browser keeps between visits. A browser may refuse storage: then the values last until the
// page is closed.

const memory = new Map<string, string>()

export function stored<Value>(name: string): Value | null {
  try {
    const text = localStorage.getItem(`steno.${name}`) ?? memory.get(name)
    return text == null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

export function store(name: string, value: unknown): void {
  const text = JSON.stringify(value)
  memory.set(name, text)
  try {
    localStorage.setItem(`steno.${name}`, text)
  } catch {
    // The copy in memory serves.
  }
}

export function forget(name: string): void {
  memory.delete(name)
  try {
    localStorage.removeItem(`steno.${name}`)
  } catch {
    // There is nothing to remove.
  }
}

/** Lists the names of stored values that begin with `start`. */
export function storedNames(start: string): string[] {
  try {
    return Object.keys(localStorage)
      .filter(name => name.startsWith(`steno.${start}`))
      .map(name => name.slice('steno.'.length))
  } catch {
    return [...memory.keys()].filter(name => name.startsWith(start))
  }
}
