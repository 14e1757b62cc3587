// The file name extensions of the accepted media files, each with its Content-Type.

export const contentTypes = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  opus: 'audio/ogg',
  wma: 'audio/x-ms-wma',
  aiff: 'audio/aiff',
  caf: 'audio/x-caf',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  avi: 'video/x-msvideo',
  mkv: 'video/x-matroska',
  webm: 'video/webm',
  wmv: 'video/x-ms-wmv',
  flv: 'video/x-flv',
  m4v: 'video/x-m4v',
  '3gp': 'video/3gpp',
  mpeg: 'video/mpeg',
  mts: 'video/mp2t',
  ogv: 'video/ogg',
  ts: 'video/mp2t',
  vob: 'video/mpeg',
  f4v: 'video/x-f4v',
} as const

export type Extension = keyof typeof contentTypes

export function isExtension(text: string): text is Extension {
  return Object.hasOwn(contentTypes, text)
}
