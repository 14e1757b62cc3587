// The countdowns after which the messages at the lower edge of the page disappear (see toast.tsx). All countdowns stand
// still while the pointer or the focus is on one of the messages.

type Countdown = {
  end: () => void
  /** The remaining time in milliseconds when the countdown last started or stopped. Does not change while it runs. */
  leftMs: number
  startedAt: number
  timer: ReturnType<typeof setTimeout> | undefined
}

const countdowns = new Set<Countdown>()
/** The reasons for which all countdowns stand still at present. */
const holds = new Set<string>()

/** Calls `end` after `ms` milliseconds. The time during which the countdowns stand still does not count. */
export function countDown(ms: number, end: () => void): void {
  const countdown = { end, leftMs: ms, startedAt: 0, timer: undefined }
  countdowns.add(countdown)
  if (holds.size === 0) run(countdown)
}

/** Stops all countdowns until `release` has been called for each reason that was given to `hold`. */
export function hold(reason: string): void {
  if (holds.size === 0) for (const countdown of countdowns) stop(countdown)
  holds.add(reason)
}

export function release(reason: string): void {
  if (holds.delete(reason) && holds.size === 0) for (const countdown of countdowns) run(countdown)
}

function run(countdown: Countdown): void {
  countdown.startedAt = performance.now()
  countdown.timer = setTimeout(() => {
    countdowns.delete(countdown)
    countdown.end()
  }, countdown.leftMs)
}

function stop(countdown: Countdown): void {
  clearTimeout(countdown.timer)
  countdown.leftMs -= performance.now() - countdown.startedAt
}
