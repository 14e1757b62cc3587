// Plays the recording. The player's state is in several signals, so a change renders only the controls that show the
// changed signal.

import { effect, signal } from '@preact/signals'
import { isOnline, needsSignIn } from '../base/connection.ts'
import { request } from '../base/net.ts'
import { storedSignal } from '../base/storage.ts'
import { timing } from '../base/timing.ts'
import { words } from '../words.ts'
import { whyRefused } from './why-refused.ts'
import { pauseAt, type WordTimes } from './word-times.ts'

export const speeds = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3]

/** The maximum number of reloads of the recording after errors. */
const reloadsMax = 5

export const speed = storedSignal('speed', 1)
export const skipsSilence = storedSignal('skipsSilence', false)

export class Player {
  readonly isPlaying = signal(false)
  readonly isReady = signal(false)
  readonly hasPicture = signal(false)
  /** A text that says why the recording cannot be played. Null if no reason is known. */
  readonly silence = signal<string | null>(null)
  /**
   * The position in the recording, in whole seconds. Components that show this signal are not rendered at each frame,
   * but only when the second changes.
   */
  readonly seconds = signal(0)
  media: HTMLVideoElement | null = null
  #frame = 0
  #reloads = 0

  constructor(
    readonly duration: number,
    readonly source: string,
    /** Called with the exact position in seconds: at each frame while the recording plays, and after each seek. */
    readonly onTime: (seconds: number) => void,
  ) {}

  attach(media: HTMLVideoElement): () => void {
    this.media = media
    const detachSpeed = effect(() => {
      media.playbackRate = speed.value
    })
    const listeners: [string, () => void][] = [
      ['play', () => this.#start()],
      ['pause', () => (this.isPlaying.value = false)],
      ['ended', () => (this.isPlaying.value = false)],
      ['seeked', () => this.#tell()],
      ['loadedmetadata', () => this.#ready()],
      ['error', () => void this.#explain()],
    ]
    for (const [name, listener] of listeners) media.addEventListener(name, listener)
    return () => {
      cancelAnimationFrame(this.#frame)
      detachSpeed()
      for (const [name, listener] of listeners) media.removeEventListener(name, listener)
      this.media = null
    }
  }

  get position(): number {
    return this.media?.currentTime ?? 0
  }

  toggle(): void {
    if (this.isPlaying.value) this.media?.pause()
    else void this.play()
  }

  async play(): Promise<void> {
    // A browser may refuse to play before the first click on the page. The player then stays paused.
    await this.media?.play().catch(() => null)
  }

  seek(seconds: number): void {
    const to = Math.min(Math.max(0, seconds), this.duration)
    if (this.media) this.media.currentTime = to
    this.#tell(to)
  }

  /** Changes the playback speed by `steps` places in the list `speeds`. A negative number gives a lower speed. */
  changeSpeed(steps: number): void {
    const at = speeds.indexOf(speed.value) + steps
    speed.value = speeds[Math.min(Math.max(0, at), speeds.length - 1)] ?? 1
  }

  /**
   * Skips a pause longer than `timing.silenceMs` while the recording plays, if the person has switched skipping on.
   * Seeks to 0.2 s before the next word.
   */
  skipSilence(times: WordTimes): void {
    if (!skipsSilence.value || !this.isPlaying.value || !this.media) return
    const pause = pauseAt(times, this.position)
    const lead = 0.2
    if (!pause || this.position < pause.start + lead) return
    if ((pause.end - pause.start) * 1000 > timing.silenceMs && pause.end - this.position > lead)
      this.media.currentTime = pause.end - lead
  }

  #ready(): void {
    this.isReady.value = true
    this.hasPicture.value = (this.media?.videoHeight ?? 0) > 0
    // The browser resets the playback speed when it loads a recording.
    if (this.media) this.media.playbackRate = speed.value
  }

  #start(): void {
    this.isPlaying.value = true
    cancelAnimationFrame(this.#frame)
    const tick = () => {
      if (!this.isPlaying.value) return
      this.#tell()
      this.#frame = requestAnimationFrame(tick)
    }
    tick()
  }

  #tell(seconds = this.position): void {
    this.seconds.value = Math.floor(seconds)
    this.onTime(seconds)
  }

  /**
   * Finds the cause of an error of the player by a new request for the recording. If the server refuses this request,
   * shows the reason. Otherwise, the player may load the recording again, at most `reloadsMax` times. After the first
   * error, it always does so: the player may have received an error response in place of the recording, and the new
   * request has succeeded. After a later error, it does so only if the network or an ended session is the cause.
   */
  async #explain(): Promise<void> {
    const { media, position } = this
    const isBroken = media?.error?.code === MediaError.MEDIA_ERR_NETWORK
    const wasPlaying = this.isPlaying.value
    this.isPlaying.value = false
    let waited = false
    const noteWaiting = effect(() => {
      waited ||= !isOnline.value || needsSignIn.value
    })
    const response = await request('GET', this.source)
    noteWaiting()
    if (!response.ok) {
      this.silence.value = await whyRefused(response)
      return
    }
    void response.body?.cancel()
    // After the first error, the recording is always loaded again. The player may have received an error response of
    // the server in place of the recording. The server has accepted the request above, so it probably sends the
    // recording now.
    const mayPlay = isBroken || waited || this.#reloads === 0
    if (media && mayPlay && this.#reloads++ < reloadsMax) {
      media.load()
      media.currentTime = position
      if (wasPlaying) void this.play()
    } else this.silence.value = words.player.unplayable
  }
}
