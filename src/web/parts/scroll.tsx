import type { ComponentChildren } from 'preact'

/** A text in a box that scrolls. The box can have the focus, so that it also scrolls by the keyboard. */
export function ScrollBox({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, the keyboard could not scroll the box
    <section class="scroll" aria-label={label} tabIndex={0}>
      <pre dir="auto">{children}</pre>
    </section>
  )
}
