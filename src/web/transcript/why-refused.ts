import { faultOf } from '../base/fault.ts'
import { words } from '../words.ts'

const text = words.player

/**
 * Returns a text that says why the server did not send the recording. The status 410 means that the recording was
 * deleted.
 */
export async function whyRefused(response: Response): Promise<string> {
  const { message, status } = await faultOf(response)
  return status === 410 ? text.gone : text.notLoaded(message)
}
