// The dialog that exports a transcript in a format of the API, with a preview of the file.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { askText, messageOf, withQuery } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { nameOf } from '../jobs/job.ts'
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

type Options = {
  format: Format
  speakers: boolean
  times: boolean
  maxWords: string
  maxChars: string
  maxSeconds: string
  sentences: boolean
}

const first: Options = {
  format: 'text',
  speakers: true,
  times: false,
  maxWords: '14',
  maxChars: '80',
  maxSeconds: '6',
  sentences: true,
}

export function ExportDialog({ studio }: { studio: Studio }) {
  const options = useSignal(first)
  const preview = useSignal('')
  const fault = useSignal('')
  const { format } = options.value
  const isCues = format === 'srt' || format === 'vtt'
  const address = `/v1/transcribe/${studio.job.id}`
  const query = queryOf(options.value)
  const fileName = `${nameOf(studio.job).replace(/\.[a-z0-9]{2,4}$/i, '')}.${extensions[format]}`
  const change = (changes: Partial<Options>) => (options.value = { ...options.value, ...changes })

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
          <Choice
            label={text.format}
            value={format}
            options={text.formats}
            onValue={value => change({ format: value })}
          />
          {format !== 'json' && (
            <Check
              label={text.speakers}
              checked={options.value.speakers}
              onValue={value => change({ speakers: value })}
            />
          )}
          {format === 'text' && (
            <Check
              label={text.times}
              checked={options.value.times}
              onValue={value => change({ times: value })}
            />
          )}
          {isCues && <CueOptions options={options.value} onChange={change} />}
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

function CueOptions({
  options,
  onChange,
}: {
  options: Options
  onChange: (changes: Partial<Options>) => void
}) {
  return (
    <>
      <Field
        label={text.maxWords}
        type="number"
        min={1}
        max={50}
        value={options.maxWords}
        onValue={value => onChange({ maxWords: value })}
      />
      <Field
        label={text.maxChars}
        type="number"
        min={10}
        max={500}
        value={options.maxChars}
        onValue={value => onChange({ maxChars: value })}
      />
      <Field
        label={text.maxSeconds}
        type="number"
        min={1}
        max={60}
        value={options.maxSeconds}
        onValue={value => onChange({ maxSeconds: value })}
      />
      <Check
        label={text.sentences}
        checked={options.sentences}
        onValue={value => onChange({ sentences: value })}
      />
    </>
  )
}

function queryOf({ format, speakers, times, maxWords, maxChars, maxSeconds, sentences }: Options) {
  const include = speakers ? 'auto' : 'false'
  if (format === 'json') return { format }
  if (format === 'text') return { format, include_speakers: include, include_timestamps: String(times) }
  return {
    format,
    include_speakers: include,
    max_words: maxWords,
    max_chars: maxChars,
    max_duration: maxSeconds,
    sentence_aware: String(sentences),
  }
}
