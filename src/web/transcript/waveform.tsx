// The waveform above the controls of the player, with a slider for the position in the recording.

import { effect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { showClock } from '../base/format.ts'
import { theme } from '../base/theme.ts'
import { words } from '../words.ts'
import type { Studio } from './studio.ts'
import { drawSpeakers, drawWave } from './wave.ts'

const text = words.player

/** The waveform in two layers. The upper layer shows the played part in another colour, up to the player's position. */
export function Wave({ studio }: { studio: Studio }) {
  const { player } = studio
  const whole = useRef<HTMLCanvasElement>(null)
  const played = useRef<HTMLCanvasElement>(null)
  const lane = useRef<HTMLCanvasElement>(null)
  const slider = useRef<HTMLInputElement>(null)
  useWave(studio, { whole, played, lane, slider })

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
      />
    </div>
  )
}

type Elements = {
  whole: RefObject<HTMLCanvasElement | null>
  played: RefObject<HTMLCanvasElement | null>
  lane: RefObject<HTMLCanvasElement | null>
  slider: RefObject<HTMLInputElement | null>
}

/**
 * Draws the waveform. Draws it again when the peaks arrive from the server, or when its size or its colours change.
 * Moves the slider with the player.
 */
function useWave(studio: Studio, { whole, played, lane, slider }: Elements): void {
  const { player, job } = studio
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
      // The player must not move the slider while the person drags it.
      if (slider.current && !slider.current.matches(':active')) slider.current.value = String(seconds)
    }
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', draw)
      detachTheme()
      studio.onTime = () => {}
    }
  }, [])
}

function colourOf(canvas: HTMLCanvasElement): string {
  return getComputedStyle(canvas).color
}

/** Requests the peaks of the waveform. Returns an empty list after an error, for example for a deleted recording. */
async function readPeaks(id: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`/v1/transcribe/${id}/peaks`).catch(() => null)
  return new Uint8Array(response?.ok ? await response.arrayBuffer() : [])
}
