// A priority queue as a binary heap. The entry with the earliest time `at` is first.

export type Heap<Entry extends { at: number }> = {
  push(entry: Entry): void
  /** Returns the entry with the earliest time, and leaves it in the queue. */
  first(): Entry | undefined
  pop(): Entry | undefined
}

export function openHeap<Entry extends { at: number }>(): Heap<Entry> {
  const entries: Entry[] = []
  const timeOf = (place: number) => entries[place]?.at ?? Number.POSITIVE_INFINITY

  function put(place: number, entry: Entry): void {
    entries[place] = entry
  }

  function sink(entry: Entry): void {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const child = timeOf(left) <= timeOf(left + 1) ? left : left + 1
      const smaller = entries[child]
      if (!smaller || smaller.at >= entry.at) break
      put(place, smaller)
      place = child
    }
    put(place, entry)
  }

  return {
    first: () => entries[0],
    push(entry) {
      let place = entries.length
      while (place > 0) {
        const above = (place - 1) >> 1
        const parent = entries[above]
        if (!parent || parent.at <= entry.at) break
        put(place, parent)
        place = above
      }
      put(place, entry)
    },
    pop() {
      const [first] = entries
      const last = entries.pop()
      if (last && entries.length > 0) sink(last)
      return first
    },
  }
}
