// A turn, which is a span in which one speaker talks, and the builder of turns.

/** A span in which one speaker talks. `from` and `to` are indices of samples. Speakers are numbered from 0. */
export type Turn = { from: number; to: number; speaker: number }

/**
 * Builds turns. `add` must be called for each frame, in order, with the index of the frame's first sample. The speaker
 * -1 means silence.
 */
export class TurnBuilder {
  private readonly turns: Turn[] = []
  private speaker = -1
  private from = 0

  add(sample: number, speaker: number): void {
    if (speaker === this.speaker) return
    this.close(sample)
    this.speaker = speaker
    this.from = Math.max(0, sample)
  }

  end(sample: number): Turn[] {
    this.close(sample)
    return this.turns
  }

  private close(to: number): void {
    if (this.speaker >= 0 && to > this.from) this.turns.push({ from: this.from, to, speaker: this.speaker })
  }
}
