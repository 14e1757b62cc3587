// The dialog that exports a transcript as a file in a format of the API. It shows a preview of the file.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { showClock } from '../base/format.ts'
import { askText, messageOf, withQuery } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { baseNameOf } from '../jobs/job.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Check, Choice, FaultText, Field } from '../parts/form.tsx'
import { ScrollBox } from '../parts/scroll.tsx'
import { words } from '../words.ts'
import { type Passage, writePassage } from './passage.ts'
import { passageName, timesOf } from './selection.tsx'
import { copy, type Studio, saveFile } from './studio.ts'

const text = words.exports

type Format = 'text' | 'srt' | 'vtt' | 'json'

const extensions: Record<Format, string> = { text: 'txt', srt: 'srt', vtt: 'vtt', json: 'json' }
/** The number of characters from the start of the file that the preview shows. */
const previewLength = 3000

/** The options of the export dialog. Each option is a signal that a field of the dialog changes. */
function useOptions(studio: Studio) {
  return {
    format: useSignal<Format>('text'),
    isPart: useSignal(studio.passage.value !== null),
    speakers: useSignal(studio.speakerCount > 1),
    times: useSignal(false),
    maxWords: useSignal('14'),
    maxChars: useSignal('80'),
    maxSeconds: useSignal('6'),
    sentences: useSignal(true),
  }
}

type Options = ReturnType<typeof useOptions>

export function ExportDialog({ studio }: { studio: Studio }) {
  const options = useOptions(studio)
  // A click on a field of the dialog clears the selection in the text. So the dialog keeps a copy of the passage that
  // was selected when it was opened.
  const selected = useRef(studio.passage.value).current
  const format = options.format.value
  const isCues = format === 'srt' || format === 'vtt'
  const address = `/v1/transcribe/${studio.job.id}`
  const query = queryOf(options)
  const part = selected && options.isPart.value ? partOf(studio, selected, options) : null
  const { preview, fault } = usePreview(studio, { address, query, part })

  return (
    <Dialog title={text.title} wide onClose={() => (studio.dialog.value = null)}>
      <div class="export">
        <div class="stack">
          <Choice label={text.format} of={options.format} options={text.formats} />
          <PartChoice studio={studio} selected={selected} options={options} />
          {format !== 'json' && studio.speakerCount > 0 && (
            <Check label={text.speakers} of={options.speakers} />
          )}
          {format === 'text' && <Check label={text.times} of={options.times} />}
          {isCues && <CueOptions options={options} isPart={part !== null} />}
        </div>
        <div class="stack">
          <ScrollBox label={text.preview}>
            {preview.value.slice(0, previewLength)}
            {preview.value.length > previewLength ? '…' : ''}
          </ScrollBox>
          {fault.value && <FaultText text={fault.value} />}
          <div class="line">
            {part === null ? (
              <a
                class="button main"
                href={withQuery(address, query)}
                download={`${baseNameOf(studio.job)}.${extensions[format]}`}
              >
                {text.save}
              </a>
            ) : (
              <button
                type="button"
                class="main"
                onClick={() =>
                  selected && saveFile(`${passageName(studio, selected)}.${extensions[format]}`, part)
                }
              >
                {text.save}
              </button>
            )}
            <button type="button" onClick={() => copy(preview.value, words.transcript.textCopied)}>
              {words.selection.copy}
            </button>
            {isCues && studio.player.hasPicture.value && (
              <button
                type="button"
                onClick={() => {
                  studio.subtitles.value = withQuery(address, { ...query, format: 'vtt' })
                  studio.dialog.value = null
                }}
              >
                {text.onVideo}
              </button>
            )}
          </div>
        </div>
      </div>
    </Dialog>
  )
}

type PreviewOf = { address: string; query: Record<string, string>; part: string | null }

/**
 * Returns the preview of the exported file, or the server's message if the server refuses to write the file. The server
 * always writes the whole transcript; the page itself writes a selected passage.
 */
function usePreview(studio: Studio, { address, query, part }: PreviewOf) {
  const preview = useSignal('')
  const fault = useSignal('')
  useEffect(() => {
    if (part !== null) {
      preview.value = part
      fault.value = ''
      return
    }
    const timer = setTimeout(async () => {
      try {
        await studio.edits.save()
        preview.value = await askText(address, query)
        fault.value = ''
      } catch (error) {
        fault.value = messageOf(error)
      }
    }, timing.typingMs)
    return () => clearTimeout(timer)
  }, [part ?? withQuery(address, query)])
  return { preview, fault }
}

type PartChoiceProps = { studio: Studio; selected: Passage | null; options: Options }

function PartChoice({ studio, selected, options }: PartChoiceProps) {
  if (options.format.value === 'json') return null
  if (!selected) return <p class="hint">{text.part}</p>
  const { start, end } = timesOf(studio, selected)
  return <Check label={text.onlySelected(showClock(start), showClock(end))} of={options.isPart} />
}

/**
 * Returns the content of a file that contains only the selected passage. Returns null if the format cannot contain a
 * part of a transcript.
 */
function partOf({ view }: Studio, selected: Passage, options: Options): string | null {
  const format = options.format.value
  if (!view || format === 'json') return null
  return writePassage(view, selected, {
    format,
    withSpeakers: options.speakers.value,
    withTimes: options.times.value,
    maxWords: Number(options.maxWords.value) || 1,
    maxChars: Number(options.maxChars.value) || 1,
    maxSeconds: Number(options.maxSeconds.value) || 1,
  })
}

function CueOptions({ options, isPart }: { options: Options; isPart: boolean }) {
  return (
    <>
      <Field label={text.maxWords} type="number" min={1} max={50} of={options.maxWords} />
      <Field label={text.maxChars} type="number" min={10} max={500} of={options.maxChars} />
      <Field label={text.maxSeconds} type="number" min={1} max={60} of={options.maxSeconds} />
      {!isPart && <Check label={text.sentences} of={options.sentences} />}
    </>
  )
}

function queryOf(options: Options): Record<string, string> {
  const { format, speakers, times, maxWords, maxChars, maxSeconds, sentences } = options
  const include = String(speakers.value)
  if (format.value === 'json') return { format: 'json' }
  if (format.value === 'text')
    return { format: 'text', include_speakers: include, include_timestamps: String(times.value) }
  return {
    format: format.value,
    include_speakers: include,
    max_words: maxWords.value,
    max_chars: maxChars.value,
    max_duration: maxSeconds.value,
    sentence_aware: String(sentences.value),
  }
}
