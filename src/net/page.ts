// Recognises a web page that was downloaded in place of a media file. The check uses the first bytes. If they are text,
// it also uses the Content-Type.

import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { causes } from './causes.ts'
import type { Answer } from './fetch.ts'
import { isSignIn } from './sign-in-pages.ts'

export type PageFilter = {
  push(bytes: Uint8Array): Promise<void>
  end(): Promise<void>
  /** Throws a JobFailure if the bytes that have arrived are the start of a web page. */
  refusePage(): void
}

/**
 * Opens a filter that holds back the first `sniffBytes` bytes of a response's body. If these bytes are not the
 * beginning of a web page, the filter passes all bytes to `write`. If they are, the filter waits until `pageBytesMax`
 * bytes or the end of the body have arrived, to find out whether the page asks for a password. The filter then throws a
 * JobFailure.
 */
export function openPageFilter(answer: Answer, write: (bytes: Uint8Array) => Promise<void>): PageFilter {
  let held = new Uint8Array()
  let passed = false
  const holdsPage = () =>
    !passed && isPage(held.subarray(0, limits.sniffBytes), answer.headers['content-type'])
  const refusePage = () => {
    if (held.length === 0 || !holdsPage()) return
    const signIn = isSignIn(answer.url) || asksForPassword(held)
    throw new JobFailure('URL_NOT_ACCESSIBLE', signIn ? causes.signIn : causes.page)
  }
  const pass = async () => {
    passed = true
    if (held.length > 0) await write(held)
    held = new Uint8Array()
  }
  return {
    push: async bytes => {
      if (passed) return write(bytes)
      held = new Uint8Array(Buffer.concat([held, bytes]))
      if (held.length < limits.sniffBytes) return
      if (!holdsPage()) return pass()
      if (held.length >= limits.pageBytesMax) refusePage()
    },
    end: async () => {
      refusePage()
      if (!passed) await pass()
    },
    refusePage,
  }
}

export function passEverything(write: (bytes: Uint8Array) => Promise<void>): PageFilter {
  return { push: write, end: async () => {}, refusePage: () => {} }
}

/** Matches one of these HTML tags at the start of the text. White space, `/` or `>` must follow the name of the tag. */
const tags =
  /^(<!doctype html|<html|<head|<script|<iframe|<h1|<div|<font|<table|<a|<style|<title|<b|<body|<br|<p|<meta|<link|<form)[\s/>]/i
const prologue = /^(?:\s+|<!--[\s\S]*?(?:-->|$)|<\?xml[\s\S]*?(?:\?>|$))+/

export function isPage(head: Uint8Array, contentType: string | undefined): boolean {
  const text = textOf(head)
  if (text === null) return false
  const trimmed = text.replace(prologue, '')
  return tags.test(`${trimmed} `) || /^\s*(text\/html|application\/xhtml)/i.test(contentType ?? '')
}

function asksForPassword(page: Uint8Array): boolean {
  return /<input[^>]{0,300}type\s*=\s*["']?password/i.test(textOf(page) ?? '')
}

/**
 * Decodes bytes to text. Returns null for binary data: bytes with a control character that does not occur in text.
 * Bytes with a byte order mark of UTF-16 are always text.
 */
function textOf(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const binary = bytes.some(
    byte => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b,
  )
  return binary ? null : new TextDecoder().decode(bytes)
}
