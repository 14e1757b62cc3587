// Ends sessions when a person signs out.

import { ask } from '../base/net.ts'
import { finishWork } from '../base/unfinished.ts'
import { needsPage } from '../jobs/upload-list.ts'
import { isConfirmed } from '../parts/confirm.tsx'
import { tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { isSignedOut, leaveAllPages } from './session.ts'

/**
 * Ends the session of this browser or, with `everywhere`, all sessions of the account. If the session of this browser
 * has already ended, a call with `everywhere` asks for a new sign-in, because other sessions may still exist.
 */
export async function signOut({ everywhere }: { everywhere: boolean }): Promise<void> {
  const action = everywhere ? words.account.everywhere : words.header.signOut
  if (needsPage.value && !(await isConfirmed(words.account.stopsUploads, action))) return
  try {
    await finishWork()
    await ask('DELETE', everywhere ? '/app/sessions' : '/app/session', { waitsForSignIn: everywhere })
  } catch (fault) {
    if (!isSignedOut(fault)) return tellFault(fault)
  }
  leaveAllPages()
}
