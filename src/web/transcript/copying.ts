// Copies the text of a transcript, or a link to a time in the recording.

import { showClock } from '../base/format.ts'
import { copy } from '../parts/clipboard.ts'
import { words } from '../words.ts'
import { separatorOf } from './document.ts'
import type { Studio } from './studio.ts'
import { turnsOf } from './turns.ts'

export function copyLink(seconds: number): void {
  const address = new URL(location.href)
  address.hash = `t=${seconds.toFixed(1)}`
  copy(address.href, words.transcript.linkCopied(showClock(seconds)))
}

/** Copies the text of the whole transcript to the clipboard, in the same paragraphs as on the page. */
export function copyText(studio: Studio, { withTimes }: { withTimes: boolean }): void {
  const { utterances, language } = studio.result
  const paragraphs = turnsOf(utterances).map(({ speaker, first, last }) => {
    const said = utterances.slice(first, last)
    const time = withTimes ? `[${showClock(said[0]?.start ?? 0)}] ` : ''
    const name = speaker === null ? '' : `${studio.nameOf(speaker)}: `
    return `${time}${name}${said.map(({ text }) => text).join(separatorOf(language))}`
  })
  copy(paragraphs.join('\n\n'), words.transcript.textCopied)
}
