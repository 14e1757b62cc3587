// The colours of the page: those of the system, or light or dark by choice.

import { effect, signal } from '@preact/signals'
import { store, stored } from './storage.ts'

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const theme = signal<Theme>(stored<Theme>('theme') ?? 'auto')

effect(() => {
  document.documentElement.dataset.theme = theme.value
  store('theme', theme.value)
})
