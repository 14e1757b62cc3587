// The <video> element that plays the recording, and shows the video and the subtitles. The element is hidden if the
// recording has sound only.

import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import { words } from '../words.ts'
import type { Studio } from './studio.ts'

const text = words.transcript

type PictureProps = { studio: Studio; video: RefObject<HTMLVideoElement | null> }

export function Picture({ studio, video }: PictureProps) {
  const { player } = studio
  const subtitles = studio.subtitles.value
  return (
    <>
      <video
        ref={video}
        src={player.source}
        preload="metadata"
        playsInline
        hidden={!player.hasPicture.value}
        onClick={() => player.toggle()}
      >
        <track key={subtitles} kind="captions" default label={text.subtitles} src={subtitles ?? undefined} />
      </video>
      {player.hasPicture.value && <PictureTools studio={studio} video={video} />}
    </>
  )
}

function PictureTools({ studio, video }: PictureProps) {
  const fullScreen = useRef<HTMLButtonElement>(null)
  const hideSubtitles = () => {
    studio.subtitles.value = null
    // The button that was pressed disappears with the subtitles. Its keyboard focus would be lost, so the other button
    // gets the focus.
    fullScreen.current?.focus()
  }
  return (
    <div class="line">
      <button ref={fullScreen} type="button" onClick={() => void video.current?.requestFullscreen()}>
        {text.fullScreen}
      </button>
      {studio.subtitles.value && (
        <button type="button" onClick={hideSubtitles}>
          {text.hideSubtitles}
        </button>
      )}
    </div>
  )
}
