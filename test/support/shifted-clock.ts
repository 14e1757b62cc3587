// Moves the clock of this process by TEST_CLOCK_HOURS hours. A program of the tests imports this module first.

const Real = Date
const shift = Number(process.env.TEST_CLOCK_HOURS ?? 0) * 3_600_000

if (shift !== 0)
  globalThis.Date = class extends Real {
    constructor(...values: []) {
      super(...((values.length > 0 ? values : [Real.now() + shift]) as []))
    }
    static override now(): number {
      return Real.now() + shift
    }
  } as DateConstructor
