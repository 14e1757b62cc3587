// The list of uploads. Each row shows the progress of one file.

import { useEffect } from 'preact/hooks'
import { showBytes, showDuration, showPercent } from '../base/format.ts'
import { isConfirmed } from '../parts/confirm.tsx'
import { FaultText } from '../parts/form.tsx'
import { words } from '../words.ts'
import { findUpload, isSending, ownUploads, type Upload } from './upload-list.ts'
import { continueUpload, dismissUpload, pauseUpload } from './uploads.ts'

const text = words.uploads

export function Uploading() {
  if (ownUploads.value.length === 0) return null
  return (
    <section class="uploads" aria-label={text.title}>
      <ul>
        {ownUploads.value.map(upload => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  )
}

function UploadRow({ upload }: { upload: Upload }) {
  const { name, size, sent, state, fault } = upload
  return (
    <li class="upload">
      <div class="line">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span class="hint">{stateText(upload)}</span>
      </div>
      <progress max={size} value={sent} aria-label={text.progress(name)} />
      {fault && <FaultText text={fault} />}
      <div class="line">
        {state === 'sending' && (
          <button type="button" onClick={() => pauseUpload(upload.id)}>
            {text.pause}
          </button>
        )}
        {(state === 'paused' || state === 'failed') && (
          <button type="button" onClick={() => continueUpload(upload.id)}>
            {text.resume}
          </button>
        )}
        {state === 'lost' && <ChooseAgain upload={upload} />}
        {state !== 'starting' && (
          <button type="button" onClick={() => removeRow(upload)}>
            {text.stop}
          </button>
        )}
      </div>
    </li>
  )
}

/**
 * Removes an upload. If a part of the file was sent, first asks the person to confirm. The upload may end while the
 * dialog is open, so its state is read again.
 */
async function removeRow({ id, name, sent }: Upload): Promise<void> {
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

/**
 * Makes the browser ask for confirmation before the page is closed while uploads are waiting or running. An upload runs
 * until its job has started.
 */
export function UnsavedUploads() {
  const isAsked = isSending.value
  useEffect(() => {
    if (!isAsked) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isAsked])
  return null
}
