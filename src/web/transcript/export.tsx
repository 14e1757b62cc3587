// The dialog that exports a transcript in a format of the API, with a preview of the file.

import { useRef } from 'preact/hooks'
import { showClock } from '../base/format.ts'
import { withQuery } from '../base/net.ts'
import { baseNameOf } from '../jobs/job.ts'
import { copy } from '../parts/clipboard.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Check, Choice } from '../parts/field.tsx'
import { FaultText } from '../parts/form.tsx'
import { ScrollBox } from '../parts/scroll.tsx'
import { words } from '../words.ts'
import { CueOptions, type Format, type Options, partOf, queryOf, useOptions } from './export-options.tsx'
import { usePreview } from './export-preview.ts'
import type { Passage } from './passage.ts'
import { saveFile } from './passage-files.ts'
import { passageName, timesOf } from './selection.tsx'
import type { Studio } from './studio.ts'

const text = words.exports

const extensions: Record<Format, string> = { text: 'txt', srt: 'srt', vtt: 'vtt', json: 'json' }
/** The maximum number of characters in the preview. */
const previewLength = 3000

export function ExportDialog({ studio }: { studio: Studio }) {
  const options = useOptions(studio)
  // A click on a field of the dialog clears the selection in the text. The dialog therefore keeps the selected passage.
  const selected = useRef(studio.passage.value).current
  const format = options.format.value
  const isCues = format === 'srt' || format === 'vtt'
  const address = `/v1/transcribe/${studio.job.id}`
  const query = queryOf(options)
  const part = selected && options.isPart.value ? partOf(studio, selected, options) : null
  const { preview, fault, isCurrent } = usePreview(studio, { address, query, part })

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
            {preview.slice(0, previewLength)}
            {preview.length > previewLength ? '…' : ''}
          </ScrollBox>
          {fault.value && <FaultText text={fault.value} />}
          <div class="line">
            <Save
              studio={studio}
              format={format}
              href={withQuery(address, query)}
              part={part}
              selected={selected}
              isReady={isCurrent || fault.value !== ''}
            />
            <button
              type="button"
              disabled={!isCurrent}
              onClick={() => copy(preview, words.transcript.textCopied)}
            >
              {words.selection.copy}
            </button>
            {isCues && studio.player.hasPicture.value && (
              <OnVideo studio={studio} subtitles={withQuery(address, { ...query, format: 'vtt' })} />
            )}
          </div>
        </div>
      </div>
    </Dialog>
  )
}

type SaveProps = {
  studio: Studio
  format: Format
  /** The address of the file with the whole transcript. */
  href: string
  /** The selected passage, or null if nothing is selected. */
  selected: Passage | null
  /** The content of a file with only the selected passage, or null if the whole transcript is saved. */
  part: string | null
  /**
   * False until the preview is loaded. The file cannot be downloaded then. Before the page asks for the preview, it
   * waits until the server has stored all edits. This wait is part of the loading: a file that is downloaded during the
   * wait could lack edits. If the loading has failed, the value is true: the file can be downloaded, although it may
   * lack edits.
   */
  isReady: boolean
}

function Save({ studio, format, href, selected, part, isReady }: SaveProps) {
  const fileOf = (name: string) => `${name}.${extensions[format]}`
  if (part === null || selected === null) {
    if (!isReady) {
      return (
        <button type="button" class="main" disabled>
          {text.save}
        </button>
      )
    }
    return (
      <a class="button main" href={href} download={fileOf(baseNameOf(studio.job))}>
        {text.save}
      </a>
    )
  }
  return (
    <button type="button" class="main" onClick={() => saveFile(fileOf(passageName(studio, selected)), part)}>
      {text.save}
    </button>
  )
}

function OnVideo({ studio, subtitles }: { studio: Studio; subtitles: string }) {
  const show = () => {
    studio.subtitles.value = subtitles
    studio.dialog.value = null
  }
  return (
    <button type="button" onClick={show}>
      {text.onVideo}
    </button>
  )
}

type PartChoiceProps = { studio: Studio; selected: Passage | null; options: Options }

function PartChoice({ studio, selected, options }: PartChoiceProps) {
  if (options.format.value === 'json') return null
  if (!selected) return <p class="hint">{text.part}</p>
  const { start, end } = timesOf(studio, selected)
  return <Check label={text.onlySelected(showClock(start), showClock(end))} of={options.isPart} />
}
