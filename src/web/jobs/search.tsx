// The page that searches in the text of all transcripts.

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { showClock, showSpeaker } from '../base/format.ts'
import { go, keepFocusOnPage, query } from '../base/route.ts'
import { timing } from '../base/timing.ts'
import { FaultText } from '../parts/form.tsx'
import { More } from '../parts/more.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { words } from '../words.ts'
import { type Hit, namesOfJobs } from './hits.ts'
import { type ShownHits, useHits } from './shown-hits.ts'

const text = words.search

export function SearchPage() {
  const asked = query.value.get('q') ?? ''
  const typed = useSignal(asked)
  const { hits, fault, read } = useHits(asked)
  const names = useSignal<Record<string, string>>({})

  // The address also changes without typing: by "Back", or by the link to this page in the header. A layout effect runs
  // before the person can type again, so no typed letter is lost.
  useLayoutEffect(() => {
    typed.value = asked
  }, [asked])
  useEffect(
    () =>
      void namesOfJobs().then(
        found => (names.value = found),
        () => null,
      ),
    [],
  )
  // Writes the typed query into the page's address. A reload or a copied link then shows the same search.
  useEffect(() => {
    const timer = setTimeout(() => {
      if (typed.value !== asked) go(`/search?q=${encodeURIComponent(typed.value)}`, { replace: true })
    }, timing.typingMs)
    return () => clearTimeout(timer)
  }, [typed.value])

  return (
    <main id="main" class="page">
      <h1 tabIndex={-1}>{text.title}</h1>
      <SearchField label={text.field} of={typed} large />
      {fault.value && <FaultText text={fault.value} />}
      {fault.value && hits === null && (
        <p>
          <button type="button" onClick={() => read().then(keepFocusOnPage)}>
            {words.tryAgain}
          </button>
        </p>
      )}
      <p class="lead" role="status">
        {asked.trim() === '' ? text.lead : hits && outcomeOf(asked, hits)}
      </p>
      <ol class="hits" aria-label={text.results}>
        {hits?.items.map(hit => (
          <HitRow key={`${hit.jobId} ${hit.start}`} hit={hit} name={names.value[hit.jobId]} />
        ))}
      </ol>
      {hits?.cursor && <More onMore={() => read(hits.cursor ?? undefined)} />}
    </main>
  )
}

/** Returns the text that says how many hits are shown. A screen reader reads it aloud. */
function outcomeOf(asked: string, { items, cursor }: ShownHits): string {
  if (items.length === 0) return text.nothing(asked)
  return cursor ? text.firstFound(items.length) : text.found(items.length)
}

function HitRow({ hit, name }: { hit: Hit; name: string | undefined }) {
  return (
    <li class="hit">
      <a href={`/jobs/${hit.jobId}#t=${Number(hit.start.toFixed(3))}`}>
        <span class="hint">
          <bdi>{name ?? hit.name ?? text.transcript}</bdi> · {showClock(hit.start)}
          {hit.speaker && (
            <>
              {' · '}
              <bdi>{showSpeaker(hit.speaker)}</bdi>
            </>
          )}
        </span>
        <span class="quote" dir="auto">
          {hit.parts.map(({ text: part, isFound }, at) =>
            isFound ? <mark key={at}>{part}</mark> : <span key={at}>{part}</span>,
          )}
        </span>
      </a>
    </li>
  )
}
