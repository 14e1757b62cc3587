// The messages about requests and jobs that failed.

export const faultWords = {
  faults: {
    offline: 'The server does not answer. Try again in a moment.',
    offlineBanner: 'The server does not answer. This page keeps trying; nothing that you typed is lost.',
    notJson:
      'The answer did not come from the server, but from a proxy or a network in between. Reload the page, or tell the operator of this server.',
  },

  /**
   * Advice for the person, by error code. The page shows the advice beside the server's message, or in place of this
   * message.
   */
  advice: {
    URL_NOT_ACCESSIBLE:
      'The address does not lead to a recording that anyone may download. Give the address of the file itself, not of a page that shows it.',
    DOWNLOAD_FAILED:
      'The download was interrupted. Try again, or download the file yourself and drop it here.',
    INVALID_MEDIA_FORMAT:
      'The file cannot be used as it is. Check that it plays on your computer with sound, or save it in another format.',
    DURATION_TOO_LONG: 'The recording is too long for one job. Cut it into parts.',
    ZERO_BALANCE: 'Your balance is empty. The page Balance says how to get a deposit.',
    INSUFFICIENT_BALANCE:
      'Your balance does not cover this recording. The page Balance says how to get a deposit.',
    PROCESSING_TIMEOUT: 'Recognition took too long. Try again, or cut the recording into parts.',
    DOWNLOAD_TIMEOUT: 'The download took too long. Try again, or drop the file here instead.',
    INTERNAL_ERROR: 'There was an error in the server. Try again.',
    TRANSCRIPTION_NOT_FOUND: 'There is no such transcript. It may have been deleted.',
    RATE_LIMIT_EXCEEDED: 'There were more requests than the server allows. Wait a minute and try again.',
    INSUFFICIENT_STORAGE: 'The server has no space for the file. Its operator can make space.',
  } as Record<string, string>,
}
