// The controls of the player, at the lower edge of the window.

import { useLayoutEffect, useRef } from 'preact/hooks'
import { showClock, showSpeed } from '../base/format.ts'
import { Check } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { reserveSpace } from '../parts/reserve-space.ts'
import { words } from '../words.ts'
import { skipsSilence, speed, speeds } from './player.ts'
import type { Studio } from './studio.ts'
import { Wave } from './waveform.tsx'

const text = words.player

export function PlayerBar({ studio }: { studio: Studio }) {
  const { player } = studio
  const bar = useRef<HTMLElement>(null)
  useLayoutEffect(() => (bar.current ? reserveSpace(bar.current, '--bar') : undefined), [])
  return (
    <section ref={bar} class="player" aria-label={text.title}>
      {player.silence.value ? <p class="hint">{player.silence.value}</p> : <Controls studio={studio} />}
    </section>
  )
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
