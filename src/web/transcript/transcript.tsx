// The page of a completed transcript: the text, the tools, and the player at the lower edge.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { fragment } from '../base/route.ts'
import { reserveSpace } from '../parts/reserve-space.ts'
import { words } from '../words.ts'
import type { Result } from './document.ts'
import { DoubtBar } from './doubt.tsx'
import { Editing } from './editing.tsx'
import { ExportDialog } from './export.tsx'
import { FindBar } from './find.tsx'
import { JobTitle, type WholeJob } from './job-head.tsx'
import { Keyboard } from './keyboard.tsx'
import { Picture } from './picture.tsx'
import { PlayerBar } from './player-bar.tsx'
import { Selection } from './selection.tsx'
import { Speakers } from './speakers.tsx'
import { Studio } from './studio.ts'
import { Tools } from './tools.tsx'
import { Warnings } from './warnings.tsx'

const text = words.transcript

export function Transcript({ job, result }: { job: WholeJob; result: Result }) {
  const studio = useMemo(() => new Studio(job, result), [job.id])
  const container = useRef<HTMLElement>(null)
  const media = useRef<HTMLVideoElement>(null)
  const { player, following } = studio

  // A layout effect runs before the browser paints the page. So when a person first sees the page, the text is there,
  // and the page handles clicks in it.
  useLayoutEffect(() => {
    if (!container.current || !media.current) return
    const detach = player.attach(media.current)
    studio.open(container.current)
    studio.goTo(momentOf(fragment.value))
    return () => {
      detach()
      studio.close()
    }
  }, [studio])
  useEffect(() => {
    const seconds = momentOf(fragment.value)
    if (seconds !== null) studio.goTo(seconds)
  }, [fragment.value])

  return (
    <>
      <TextBars studio={studio} />
      <article class="transcript">
        <header class="job-head">
          <JobTitle job={job} />
          <Tools studio={studio} />
          <Warnings result={result} />
        </header>
        <aside aria-label={text.aside}>
          <Picture studio={studio} video={media} />
          <Speakers studio={studio} />
        </aside>
        {result.utterances.length === 0 && <p class="empty">{text.noWords}</p>}
        <section ref={container} class="text" aria-label={text.label} />
        {!following.isOn.value && player.isPlaying.value && !following.isSpokenVisible.value && (
          <button type="button" class="follow main" onClick={() => studio.follow()}>
            {text.follow}
          </button>
        )}
        <Selection studio={studio} />
        <PlayerBar studio={studio} />
        <Keyboard studio={studio} />
        {studio.dialog.value === 'export' && <ExportDialog studio={studio} />}
      </article>
    </>
  )
}

/** The bars for finding, doubtful words and editing, which stay above the text while the page scrolls. */
function TextBars({ studio }: { studio: Studio }) {
  const bars = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => (bars.current ? reserveSpace(bars.current, '--bars') : undefined), [])
  return (
    <div ref={bars} class="text-bars">
      <FindBar studio={studio} />
      <DoubtBar studio={studio} />
      <Editing studio={studio} />
    </div>
  )
}

/**
 * Returns the time in seconds in a fragment of the address such as `t=61.5`. Returns null if the fragment contains no
 * time.
 */
function momentOf(part: string): number | null {
  const seconds = Number.parseFloat(new URLSearchParams(part).get('t') ?? '')
  return Number.isFinite(seconds) ? seconds : null
}
