// The form that adds recordings. A person drops files, folders or a web address, chooses files, or types a web address.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../base/fault.ts'
import { showBytes } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { loadService, service } from '../base/service.ts'
import { Field } from '../parts/field.tsx'
import { FaultText, Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { useLoaded } from '../parts/load.tsx'
import { words } from '../words.ts'
import { type Dropped, droppedFiles } from './dropped.ts'
import { nameInUrl, submitJob } from './job.ts'
import { refreshJobs } from './job-list.ts'
import { chosenOptions, Options, reasonAgainstOptions } from './options.tsx'
import { addFiles } from './uploads.ts'

const text = words.add

/** The largest number of files that one sentence of a message names. */
const mostNames = 5

const noFiles: Dropped = { files: [], unreadable: [] }

type Balance = { available_cents: number; price_per_hour_cents: number }

export function Add() {
  const isOver = useSignal(false)
  const fault = useSignal('')
  useEffect(() => void loadService().catch(error => (fault.value = messageOf(error))), [])

  const take = async (files: readonly File[], unreadable: readonly string[] = []) => {
    // If the page has just appeared, the server's limits may not be loaded yet. Files are checked against these limits.
    await loadService().catch(() => null)
    fault.value = reasonAgainstOptions() ?? ''
    if (fault.value) return
    const byReason = Map.groupBy(files, reasonAgainst)
    const repeated = addFiles(byReason.get(null) ?? [], chosenOptions())
    byReason.delete(null)
    const sentences = [...byReason].map(([reason, refused]) =>
      text.notSent(listNames(refused.map(nameOf)), refused.length, reason ?? ''),
    )
    if (unreadable.length > 0)
      sentences.push(text.notSent(listNames(unreadable), unreadable.length, text.unreadable))
    if (repeated.length > 0) sentences.push(text.beingSent(listNames(repeated.map(nameOf)), repeated.length))
    fault.value = sentences.join(' ')
  }
  const drop = async (event: DragEvent) => {
    const address = event.dataTransfer?.getData('text/uri-list')
    const dropped = event.dataTransfer ? await droppedFiles(event.dataTransfer) : noFiles
    if (dropped.files.length + dropped.unreadable.length > 0) await take(dropped.files, dropped.unreadable)
    else if (address) await addAddress(address).catch(error => (fault.value = messageOf(error)))
  }

  useEffect(() => watchDrops(isOver, drop), [])

  return (
    <section class={isOver.value ? 'add over' : 'add'} aria-labelledby="add-title">
      <h2 id="add-title">{text.title}</h2>
      <div class="sources">
        <FileButton label={text.choose} onFiles={take} />
        <AddressForm />
      </div>
      <Options />
      <EmptyBalance />
      {fault.value && <FaultText text={fault.value} />}
    </section>
  )
}

/**
 * Calls `drop` when a person drops files anywhere on the page, or a web address on the form. Sets `isOver` to true
 * while the person drags something that the page accepts. Returns a function that removes the event listeners.
 */
function watchDrops(isOver: Signal<boolean>, drop: (event: DragEvent) => void): () => void {
  const watch = new AbortController()
  const { signal } = watch
  const over = (event: DragEvent) => {
    const types = event.dataTransfer?.types ?? []
    const isInForm = event.target instanceof Element && event.target.closest('.add') !== null
    if (!types.includes('Files') && !(isInForm && types.includes('text/uri-list'))) return
    event.preventDefault()
    // The listener of `refuseDrops` runs first, and makes every page refuse files. This page accepts files, so this
    // line overrides the refusal.
    if (event.dataTransfer && types.includes('Files')) event.dataTransfer.dropEffect = 'copy'
    isOver.value = event.type === 'dragover'
    if (event.type === 'drop') drop(event)
  }
  addEventListener('dragover', over, { signal })
  // The browser also sends `dragleave` at each border between two elements. `relatedTarget` is null only when the
  // pointer leaves the window.
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) isOver.value = false
  }
  addEventListener('dragleave', leave, { signal })
  addEventListener('drop', over, { signal })
  return () => watch.abort()
}

/** Shows a warning if the balance is empty and jobs cost money, before the person adds a file. */
function EmptyBalance() {
  const balance = useLoaded(() => ask<Balance>('GET', '/v1/balance'))
  const { available_cents: available = 0, price_per_hour_cents: price = 0 } = balance.value.value ?? {}
  if (price === 0 || available > 0) return null
  return (
    <p class="fault">
      {text.emptyBalance} <a href="/balance">{words.header.balance}</a>
    </p>
  )
}

function FileButton({ label, onFiles }: { label: string; onFiles: (files: File[]) => Promise<void> }) {
  return (
    <div class="drop">
      <label class="button main">
        <Icon name="add" />
        {label}
        <input
          class="unseen"
          type="file"
          multiple
          accept="audio/*,video/*"
          onChange={event => {
            const input = event.currentTarget
            onFiles([...(input.files ?? [])])
            input.value = ''
          }}
        />
      </label>
      <span class="hint">{matchMedia('(hover: none)').matches ? text.dropOnTouch : text.drop}</span>
    </div>
  )
}

function AddressForm() {
  const address = useSignal('')
  const send = async () => {
    await addAddress(address.value.trim())
    address.value = ''
  }
  return (
    <Form onSend={send} button={text.addAddress} isMain={false} class="inline">
      <Field label={text.address} type="url" placeholder="https://" required of={address} />
    </Form>
  )
}

async function addAddress(address: string): Promise<void> {
  const refused = reasonAgainstOptions()
  if (refused !== null) throw new Error(refused)
  await submitJob({ url: address }, chosenOptions(), nameInUrl(address))
  await refreshJobs().catch(() => null)
}

/**
 * Returns the reason why the server would refuse the file. Returns null if there is none, or if the limits of the
 * server are not known.
 */
function reasonAgainst(file: File): string | null {
  const limits = service.value?.limits
  if (!limits) return null
  const extension = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? ''
  if (!limits.extensions.includes(extension)) return text.wrongKind(limits.extensions.join(', '))
  if (file.size === 0) return text.emptyFile
  return file.size > limits.file_bytes ? text.tooLarge(showBytes(limits.file_bytes)) : null
}

function nameOf({ name }: File): string {
  return name
}

/** Returns the names as a part of a sentence. It has at most `mostNames` names. */
function listNames(names: readonly string[]): string {
  const named = names.slice(0, mostNames).join(', ')
  const more = names.length - mostNames
  return more > 0 ? text.moreNames(named, more) : named
}
