// The list of uploads. Each row shows the progress of one file. If there are several rows, a button above them pauses
// or continues all uploads.

import { useEffect, useLayoutEffect } from 'preact/hooks'
import { showBytes, showDuration, showPercent } from '../base/format.ts'
import { isConfirmed } from '../parts/confirm.tsx'
import { FaultText } from '../parts/form.tsx'
import { useReturnedFocus } from '../parts/returned-focus.ts'
import { words } from '../words.ts'
import { findUpload, isPausable, isStopped, needsPage, ownUploads, type Upload } from './upload-list.ts'
import { continueUpload, dismissUpload, pauseUploads } from './uploads.ts'

const text = words.uploads

export function Uploading() {
  if (ownUploads.value.length === 0) return null
  return (
    <section class="uploads" aria-label={text.title}>
      {ownUploads.value.length > 1 && <AllUploads uploads={ownUploads.value} />}
      <ul>
        {ownUploads.value.map(upload => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  )
}

/** The number of the files, the size of what is left to send, and a button that pauses or continues all uploads. */
function AllUploads({ uploads }: { uploads: Upload[] }) {
  const leftBytes = uploads.reduce((sum, { size, sent }) => sum + size - sent, 0)
  const [pausable, stopped] = [uploads.filter(isPausable), uploads.filter(isStopped)]
  const press = () => {
    if (pausable.length > 0) pauseUploads(pausable.map(({ id }) => id))
    else for (const { id } of stopped) continueUpload(id)
  }
  return (
    <div class="line">
      <span class="hint">{text.together(uploads.length, showBytes(leftBytes))}</span>
      <button type="button" aria-disabled={pausable.length + stopped.length === 0} onClick={press}>
        {stopped.length > 0 && pausable.length === 0 ? text.resumeAll : text.pauseAll}
      </button>
    </div>
  )
}

function UploadRow({ upload }: { upload: Upload }) {
  const { name, size, sent, state, fault } = upload
  const row = useReturnedFocus<HTMLLIElement>()
  const isLost = state === 'lost'
  useLayoutEffect(() => {
    if (!isLost) return
    // Called when the person has chosen the lost file again. The field for this choice is then removed from the page.
    // If this field had the focus, a button of the same row gets the focus.
    return () => {
      if (document.activeElement === document.body) row.current?.querySelector('button')?.focus()
    }
  }, [isLost])
  return (
    <li ref={row} class="upload">
      <div class="line">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span class="hint">{stateText(upload)}</span>
      </div>
      <progress max={size} value={sent} aria-label={text.progress(name)} />
      {fault && <FaultText text={fault} />}
      <div class="line">
        {isLost ? <ChooseAgain upload={upload} /> : <PauseButton upload={upload} />}
        <button
          type="button"
          aria-label={text.ofFile(text.stop, name)}
          aria-disabled={state === 'starting'}
          onClick={() => removeRow(upload)}
        >
          {text.stop}
        </button>
      </div>
    </li>
  )
}

/** A button that pauses or continues an upload. It is the same button in all states, so it keeps the focus. */
function PauseButton({ upload }: { upload: Upload }) {
  const { id, name, state } = upload
  const label = isStopped(upload) ? text.resume : text.pause
  const press = () => {
    if (isStopped(upload)) continueUpload(id)
    else if (isPausable(upload)) pauseUploads([id])
  }
  return (
    <button
      type="button"
      aria-label={text.ofFile(label, name)}
      aria-disabled={state === 'starting'}
      onClick={press}
    >
      {label}
    </button>
  )
}

/**
 * Removes an upload, unless its job is being started. If a part of the file was sent, first asks the person to confirm.
 * The upload may end while the dialog is open, so its state is read again.
 */
async function removeRow({ id, name, sent, state: before }: Upload): Promise<void> {
  if (before === 'starting') return
  if (sent > 0 && !(await isConfirmed(text.confirmStop(name), text.stop))) return
  const state = findUpload(id)?.state
  if (state !== undefined && state !== 'starting') dismissUpload(id)
}

/**
 * A button with which the person chooses the file of an upload again. After a reload, the page no longer has the file.
 */
function ChooseAgain({ upload }: { upload: Upload }) {
  return (
    <label class="button">
      {text.chooseAgain}
      <input
        class="unseen"
        type="file"
        aria-label={text.ofFile(text.chooseAgain, upload.name)}
        onChange={event => {
          const file = event.currentTarget.files?.[0]
          if (file) continueUpload(upload.id, file)
        }}
      />
    </label>
  )
}

function stateText({ state, sent, size, bytesPerSecond, name }: Upload): string {
  const share = showPercent(size === 0 ? 0 : sent / size)
  if (state === 'paused') return text.paused(share)
  if (state === 'lost') return text.lost(share, name)
  if (state === 'failed') return text.failed
  if (state === 'queued') return text.queued
  if (state === 'starting') return text.starting
  const parts = [text.sent(share, showBytes(size))]
  if (bytesPerSecond > 0) {
    parts.push(text.speed(showBytes(bytesPerSecond)), text.left(showDuration((size - sent) / bytesPerSecond)))
  }
  return parts.join(' · ')
}

/** Makes the browser ask for confirmation before the page is closed while an upload needs the page. */
export function UnsavedUploads() {
  const isAsked = needsPage.value
  useEffect(() => {
    if (!isAsked) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isAsked])
  return null
}
