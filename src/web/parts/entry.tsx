// A link in the navigation. The link is marked while its page, or a page below it, is open.

import { path } from '../base/route.ts'

export function Entry({ to, label }: { to: string; label: string }) {
  const isHere =
    path.value === to || path.value.startsWith(`${to}/`) || (to === '/jobs' && path.value === '/')
  return (
    <a href={to} aria-current={isHere ? 'page' : undefined}>
      {label}
    </a>
  )
}
