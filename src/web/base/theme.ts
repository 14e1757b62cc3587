// The colour theme of the page: light, dark, or the theme of the operating system.

import { effect, signal } from '@preact/signals'
import { store, stored } from './storage.ts'

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const theme = signal<Theme>(stored<Theme>('theme') ?? 'auto')

effect(() => {
  document.documentElement.dataset.theme = theme.value
  store('theme', theme.value)
})
