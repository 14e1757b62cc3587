// The languages, file formats and limits that the server reports, and whether people can sign up.

import { signal } from '@preact/signals'
import { ask } from './net.ts'

export type ServiceFacts = {
  limits: { file_bytes: number; extensions: string[]; audio_seconds: { min: number; max: number } }
  languages: { code: string; served: boolean }[]
  sign_up: boolean
}

export const service = signal<ServiceFacts | null>(null)

export async function loadService(): Promise<ServiceFacts> {
  service.value ??= await ask<ServiceFacts>('GET', '/v1')
  return service.value
}
