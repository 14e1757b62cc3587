import type { ComponentChildren } from 'preact'

/** A text in a scrollable box. The box can have the focus, so that the keyboard can scroll the text. */
export function ScrollBox({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, the keyboard could not scroll the box
    <section class="scroll" aria-label={label} tabIndex={0}>
      <pre dir="auto">{children}</pre>
    </section>
  )
}
