// The decoded sound of a recording.

/**
 * The decoded sound of a recording, in parts. `forget` removes the parts that end at or before a given sample, because
 * no later window needs them.
 */
export class Recording {
  private parts: { from: number; samples: Float32Array }[] = []
  length = 0

  add(samples: Float32Array): void {
    if (samples.length === 0) return
    this.parts.push({ from: this.length, samples })
    this.length += samples.length
  }

  /**
   * Copies the samples between `from` and `to` of the recording into `target`, starting at index `at` of `target`.
   * Leaves out samples that `forget` has removed.
   */
  copy(from: number, to: number, target: Float32Array, at: number): void {
    for (const part of this.parts) {
      const start = Math.max(from, part.from)
      const end = Math.min(to, part.from + part.samples.length)
      if (start < end)
        target.set(part.samples.subarray(start - part.from, end - part.from), at + start - from)
    }
  }

  forget(before: number): void {
    while (this.parts[0] && this.parts[0].from + this.parts[0].samples.length <= before) this.parts.shift()
  }
}
