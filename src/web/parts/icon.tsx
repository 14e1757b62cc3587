// The icons of the web app. Each icon is an SVG path that is drawn as lines, in a square of 20 by 20 units.

const paths = {
  play: 'M6 4l10 6-10 6z',
  pause: 'M7 4v12M13 4v12',
  search: 'M9 15a6 6 0 100-12 6 6 0 000 12zM13.5 13.5L17 17',
  download: 'M10 3v10M6 9l4 4 4-4M4 17h12',
  pen: 'M4 16l1-4 8-8 3 3-8 8z',
  link: 'M8 12l4-4M7 9l-2 2a3 3 0 004 4l2-2M13 11l2-2a3 3 0 00-4-4L9 7',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  clock: 'M10 3a7 7 0 100 14 7 7 0 000-14zM10 6v4l3 2',
  print: 'M6 8V3h8v5M6 14H4V8h12v6h-2M6 12h8v5H6z',
  undo: 'M7 5L4 8l3 3M4 8h8a4 4 0 010 8H8',
  redo: 'M13 5l3 3-3 3M16 8H8a4 4 0 000 8h4',
  doubt: 'M10 17a7 7 0 100-14 7 7 0 000 14zM10 13.500v.2M8 8a2 2 0 114 .3c0 1.200-2 1.400-2 2.700',
  check: 'M4 10l4 4 8-8',
  close: 'M5 5l10 10M15 5L5 15',
  menu: 'M3 6h14M3 10h14M3 14h14',
  back: 'M9 5l-5 5 5 5M4 10h12',
  rewind: 'M9 5l-6 5 6 5zM17 5l-6 5 6 5z',
  forward: 'M11 5l6 5-6 5zM3 5l6 5-6 5z',
  up: 'M5 12l5-5 5 5',
  down: 'M5 8l5 5 5-5',
  add: 'M10 4v12M4 10h12',
  bin: 'M4 6h12M8 6V4h4v2M6 6l1 11h6l1-11',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
