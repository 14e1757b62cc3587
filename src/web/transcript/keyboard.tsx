// The keyboard shortcuts of the transcript page.

import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { storedSignal } from '../base/storage.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Check } from '../parts/field.tsx'
import { words } from '../words.ts'
import { jump } from './player-bar.tsx'
import type { Studio } from './studio.ts'

const text = words.keyboard

const isOn = storedSignal('keyboard', true)

const actions: Record<string, (studio: Studio) => void> = {
  ' ': studio => studio.player.toggle(),
  k: studio => studio.player.toggle(),
  j: studio => jump(studio, -10),
  l: studio => jump(studio, 10),
  ArrowLeft: studio => jump(studio, -5),
  ArrowRight: studio => jump(studio, 5),
  ',': studio => studio.player.changeSpeed(-1),
  '.': studio => studio.player.changeSpeed(1),
  e: studio => (studio.edits.isEditing.value ? studio.toggleEditing() : studio.editHere()),
  f: studio => studio.setFinding(true),
  x: studio => (studio.dialog.value = 'export'),
}

export function Keyboard({ studio }: { studio: Studio }) {
  const isHelpOpen = useSignal(false)
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
      if (event.key === 'Escape') studio.leave()
      if (event.key === '?' && isOn.value) isHelpOpen.value = true
      const action = isOn.value ? actions[event.key.length === 1 ? event.key.toLowerCase() : event.key] : null
      if (!action) return
      event.preventDefault()
      action(studio)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [studio])

  return (
    <>
      <p class="hint keys-hint">
        {text.selectHint}{' '}
        <button type="button" class="quiet link" onClick={() => (isHelpOpen.value = true)}>
          {text.title}
        </button>
      </p>
      {isHelpOpen.value && (
        <Dialog title={text.title} onClose={() => (isHelpOpen.value = false)}>
          <dl class="keys">
            {text.list.map(([key, meaning]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <Check label={text.on} of={isOn} />
        </Dialog>
      )}
    </>
  )
}

/** Returns true if the focused element uses the key itself, or is in a dialog. The key is then not a shortcut. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.closest('dialog')) return true
  if (target instanceof HTMLInputElement && target.type === 'range')
    return /^(Arrow(Up|Down)|Page|Home|End)/.test(key)
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return key === ' '
  if (target.closest('input, select, textarea')) return true
  return key === ' ' && target.closest('button, a, summary') !== null
}
