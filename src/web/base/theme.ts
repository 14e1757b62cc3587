// The colour theme of the web app: light, dark, or the theme of the operating system.

import { effect } from '@preact/signals'
import { storedSignal } from './storage.ts'

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const theme = storedSignal<Theme>('theme', 'auto')

effect(() => {
  document.documentElement.dataset.theme = theme.value
})
