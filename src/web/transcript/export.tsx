// The dialog that exports a transcript in a format of the API, with a preview of the file.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { askText, messageOf, withQuery } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { baseNameOf } from '../jobs/job.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Check, Choice, FaultText, Field } from '../parts/form.tsx'
import { ScrollBox } from '../parts/scroll.tsx'
import { words } from '../words.ts'
import { copy, type Studio } from './studio.ts'

const text = words.exports

type Format = 'text' | 'srt' | 'vtt' | 'json'

const extensions: Record<Format, string> = { text: 'txt', srt: 'srt', vtt: 'vtt', json: 'json' }
/** The number of characters from the beginning of the file that the preview shows. */
const previewLength = 3000

/** The chosen options, as signals that the fields of the dialog change. */
function useOptions() {
  return {
    format: useSignal<Format>('text'),
    speakers: useSignal(true),
    times: useSignal(false),
    maxWords: useSignal('14'),
    maxChars: useSignal('80'),
    maxSeconds: useSignal('6'),
    sentences: useSignal(true),
  }
}

type Options = ReturnType<typeof useOptions>

export function ExportDialog({ studio }: { studio: Studio }) {
  const options = useOptions()
  const preview = useSignal('')
  const fault = useSignal('')
  const format = options.format.value
  const isCues = format === 'srt' || format === 'vtt'
  const address = `/v1/transcribe/${studio.job.id}`
  const query = queryOf(options)
  const fileName = `${baseNameOf(studio.job)}.${extensions[format]}`

  useEffect(() => {
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
  }, [withQuery(address, query)])

  return (
    <Dialog title={text.title} wide onClose={() => (studio.dialog.value = null)}>
      <div class="export">
        <div class="stack">
          <Choice label={text.format} of={options.format} options={text.formats} />
          {format !== 'json' && <Check label={text.speakers} of={options.speakers} />}
          {format === 'text' && <Check label={text.times} of={options.times} />}
          {isCues && <CueOptions options={options} />}
          <p class="hint">{text.part}</p>
        </div>
        <div class="stack">
          <ScrollBox label={text.preview}>
            {preview.value.slice(0, previewLength)}
            {preview.value.length > previewLength ? '…' : ''}
          </ScrollBox>
          {fault.value && <FaultText text={fault.value} />}
          <div class="line">
            <a class="button main" href={withQuery(address, query)} download={fileName}>
              {text.save}
            </a>
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

function CueOptions({ options }: { options: Options }) {
  return (
    <>
      <Field label={text.maxWords} type="number" min={1} max={50} of={options.maxWords} />
      <Field label={text.maxChars} type="number" min={10} max={500} of={options.maxChars} />
      <Field label={text.maxSeconds} type="number" min={1} max={60} of={options.maxSeconds} />
      <Check label={text.sentences} of={options.sentences} />
    </>
  )
}

function queryOf({ format, speakers, times, maxWords, maxChars, maxSeconds, sentences }: Options) {
  const include = speakers.value ? 'auto' : 'false'
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
