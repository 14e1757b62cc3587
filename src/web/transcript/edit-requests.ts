// The requests that save the edits of a transcript, or read it again. Each saving request contains the ETag of the
// transcript before the edits. If the transcript on the server has another ETag, the server refuses the request.

import { Fault } from '../base/fault.ts'
import { ask, askTagged } from '../base/net.ts'
import type { Result, Utterance } from './document.ts'

export type Sent = { index: number; text: string }[]

/**
 * The utterances that a request has changed, with the words and times that the server has computed for the new texts.
 */
export type Saved = ({ index: number } & Utterance)[]

export class EditRequests {
  readonly #address: string
  #tag: string | null

  constructor({ id, tag }: { id: string; tag: string | null }) {
    this.#address = `/v1/transcribe/${id}`
    this.#tag = tag
  }

  async saveTexts(utterances: Sent): Promise<Saved> {
    return (await this.#patch<{ utterances: Saved }>({ utterances })).utterances
  }

  async saveName(before: string, after: string): Promise<void> {
    await this.#patch({ speakers: { [before]: after } })
  }

  /** Reads the transcript again. The next saving request contains the ETag of this response. */
  async read(): Promise<Result> {
    const { answer, tag } = await askTagged<{ result: Result }>('GET', this.#address)
    this.#tag = tag
    return answer.result
  }

  /** Reads the transcript as the engine returned it, without edits. */
  async readOriginal(): Promise<Result> {
    const query = { version: 'original' }
    return (await ask<{ result: Result }>('GET', this.#address, { query })).result
  }

  async #patch<Answer>(body: unknown): Promise<Answer> {
    const { answer, tag } = await askTagged<Answer>('PATCH', this.#address, { body, ifMatch: this.#tag })
    this.#tag = tag
    return answer
  }
}

/** Returns true if the server refused an edit because the transcript was changed after this page had loaded it. */
export function isOutdated(fault: unknown): boolean {
  return fault instanceof Fault && fault.status === 412
}

/** Returns true if the server refused an edit because of its content, for example because a text is too long. */
export function isRefused(fault: unknown): boolean {
  return fault instanceof Fault && (fault.status === 400 || fault.status === 413)
}
