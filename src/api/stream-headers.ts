// The headers of responses whose bytes are sent in parts.

/** Switches off the buffering of a proxy such as nginx. With buffering, the parts would arrive late or all together. */
export const unbuffered = { 'X-Accel-Buffering': 'no' }

/** The headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  ...unbuffered,
}
