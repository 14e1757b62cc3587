// The controls of the player. They are fixed to the lower edge of the window.

import { effect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { showClock, showSpeed } from '../base/format.ts'
import { theme } from '../base/theme.ts'
import { Check } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'
import { skipsSilence, speed, speeds } from './player.ts'
import type { Studio } from './studio.ts'
import { drawSpeakers, drawWave } from './wave.ts'

const text = words.player

export function PlayerBar({ studio }: { studio: Studio }) {
  const { player } = studio
  const bar = useRef<HTMLElement>(null)
  useLayoutEffect(() => (bar.current ? reserveSpace(bar.current) : undefined), [])
  return (
    <section ref={bar} class="player" aria-label={text.title}>
      {player.silence.value ? <p class="hint">{text[player.silence.value]}</p> : <Controls studio={studio} />}
    </section>
  )
}

/**
 * Keeps the height of the player in the CSS variable `--bar`. The style sheet uses this variable to keep the text and
 * the other bars above the player.
 */
function reserveSpace(bar: HTMLElement): () => void {
  const { style } = document.documentElement
  const resized = new ResizeObserver(() => style.setProperty('--bar', `${bar.offsetHeight}px`))
  resized.observe(bar)
  return () => {
    resized.disconnect()
    style.removeProperty('--bar')
  }
}

function Controls({ studio }: { studio: Studio }) {
  const { player, job } = studio
  const playing = player.isPlaying.value
  return (
    <>
      <Wave studio={studio} key={job.id} />
      <div class="controls">
        <button type="button" class="quiet icon" aria-label={text.back} onClick={() => jump(studio, -10)}>
          <Icon name="rewind" />
        </button>
        <button
          type="button"
          class="main icon play"
          aria-label={playing ? text.pause : text.play}
          onClick={() => player.toggle()}
        >
          <Icon name={playing ? 'pause' : 'play'} />
        </button>
        <button type="button" class="quiet icon" aria-label={text.forward} onClick={() => jump(studio, 10)}>
          <Icon name="forward" />
        </button>
        <span class="clock">
          {showClock(player.seconds.value)} <span class="hint">/ {showClock(player.duration)}</span>
        </span>
        <label class="speed">
          <span class="unseen">{text.speed}</span>
          <select
            value={String(speed.value)}
            onChange={event => (speed.value = Number(event.currentTarget.value))}
          >
            {speeds.map(factor => (
              <option key={factor} value={String(factor)}>
                {showSpeed(factor)}
              </option>
            ))}
          </select>
        </label>
        <Check label={text.skipSilence} of={skipsSilence} />
      </div>
    </>
  )
}

export function jump(studio: Studio, seconds: number): void {
  studio.player.seek(studio.player.position + seconds)
}

/**
 * The waveform, drawn in two layers. The upper layer has another colour and ends at the present position of the player,
 * so that it shows the part that was played.
 */
function Wave({ studio }: { studio: Studio }) {
  const { player, job } = studio
  const whole = useRef<HTMLCanvasElement>(null)
  const played = useRef<HTMLCanvasElement>(null)
  const lane = useRef<HTMLCanvasElement>(null)
  const slider = useRef<HTMLInputElement>(null)
  const peaks = useRef(new Uint8Array())

  useEffect(() => {
    const draw = () => {
      const style = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name)
      if (whole.current) drawWave(whole.current, { peaks: peaks.current, bar: colourOf(whole.current) })
      if (played.current) drawWave(played.current, { peaks: peaks.current, bar: colourOf(played.current) })
      if (lane.current) {
        drawSpeakers(lane.current, {
          utterances: studio.result.utterances,
          duration: player.duration,
          colourOf: speaker => style(`--speaker-${studio.colourOf(speaker)}`),
        })
      }
    }
    const resized = new ResizeObserver(draw)
    if (whole.current) resized.observe(whole.current)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    const detachTheme = effect(() => {
      if (theme.value) draw()
    })
    readPeaks(job.id).then(read => {
      peaks.current = read
      draw()
    })
    studio.onTime = seconds => {
      const share = player.duration === 0 ? 0 : seconds / player.duration
      if (played.current) played.current.style.clipPath = `inset(0 ${(1 - share) * 100}% 0 0)`
      if (slider.current && document.activeElement !== slider.current) slider.current.value = String(seconds)
    }
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', draw)
      detachTheme()
      studio.onTime = () => {}
    }
  }, [])

  return (
    <div class="wave">
      <canvas ref={whole} class="whole" />
      <canvas ref={played} class="played" />
      <canvas ref={lane} class="lane" />
      <input
        ref={slider}
        type="range"
        min={0}
        max={player.duration}
        step={0.1}
        aria-label={text.position}
        aria-valuetext={showClock(player.seconds.value)}
        onInput={event => studio.goTo(Number(event.currentTarget.value))}
        onChange={event => event.currentTarget.blur()}
      />
    </div>
  )
}

function colourOf(canvas: HTMLCanvasElement): string {
  return getComputedStyle(canvas).color
}

/**
 * Requests the peaks for the waveform from the server. Returns an empty list if the request fails, for example because
 * the recording was deleted.
 */
async function readPeaks(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`/v1/transcribe/${id}/peaks`).catch(() => null)
  return new Uint8Array(response?.ok ? await response.arrayBuffer() : [])
}
