// The texts of the page with the jobs, and of the search in all transcripts.

export const jobWords = {
  add: {
    title: 'New transcript',
    choose: 'Choose recordings',
    drop: 'or drop files and folders here. They are sent at once, with the settings below.',
    dropOnTouch: 'They are sent at once, with the settings below.',
    emptyBalance: 'Your balance is empty: a new transcript cannot start.',
    address: 'Or the address of a recording',
    addAddress: 'Add',
    notSent: (names: string, count: number, reason: string) =>
      `${names} ${count === 1 ? 'was' : 'were'} not sent: ${reason}`,
    beingSent: (names: string, count: number) =>
      `${names} ${count === 1 ? 'is' : 'are'} already being sent with these options.`,
    moreNames: (names: string, more: number) => `${names} and ${more} more`,
    wrongKind: (kinds: string) => `the accepted kinds are ${kinds}.`,
    unreadable: 'the browser cannot read it.',
    emptyFile: 'an empty file cannot be transcribed.',
    tooLarge: (most: string) => `the largest accepted size is ${most}.`,
  },

  options: {
    title: 'How to transcribe',
    language: 'Language',
    anyLanguage: 'Detect automatically',
    diarize: 'Tell speakers apart',
    speakers: 'How many speakers',
    anyNumber: 'any number',
    more: 'Names and words',
    prompt: 'What it is about',
    promptHint:
      'A sentence or two with the names and the style of the recording, such as “Interview with Ana Weiß about rents.”',
    vocabulary: 'Words that may be said',
    vocabularyHint: 'Names and terms, separated by commas.',
    wrongSpeakers: (most: number) =>
      `Nothing was sent: the number of speakers is a whole number from 1 to ${most}, or empty.`,
    longTerm: (term: string, most: number) =>
      `Nothing was sent: “${term}” has more than ${most} characters. Separate the words that may be said by commas.`,
    manyTerms: (count: number, most: number) =>
      `Nothing was sent: there are ${count} words that may be said. Leave at most ${most}.`,
  },

  uploads: {
    title: 'Uploads',
    progress: (name: string) => `Upload of ${name}`,
    together: (count: number, left: string) => `${count} files · ${left} left`,
    pauseAll: 'Pause all',
    resumeAll: 'Continue all',
    pause: 'Pause',
    resume: 'Continue',
    stop: 'Remove',
    /** The label of a button for one file, for screen readers. */
    ofFile: (action: string, name: string) => `${action} ${name}`,
    confirmStop: (name: string) => `Remove “${name}”? The part that was sent is deleted from the server.`,
    chooseAgain: 'Choose the file again',
    queued: 'waits for the file before it',
    starting: 'sent; the job is being started',
    failed: 'stopped by an error',
    sent: (share: string, size: string) => `${share} of ${size}`,
    speed: (size: string) => `${size}/s`,
    left: (time: string) => `${time} left`,
    paused: (share: string) => `paused at ${share}`,
    lost: (share: string, name: string) =>
      `stopped at ${share}. Choose ${name} again, and it goes on from there.`,
    refused: 'The server does not accept the file at the moment. This page keeps trying.',
    unreadable: 'The browser can no longer read the file: it was moved, changed or removed.',
    otherFile: (name: string) => `That is another file, or it was changed. Choose the original ${name}.`,
  },

  jobs: {
    title: 'Transcripts',
    status: 'State',
    period: 'Time',
    anyStatus: 'All states',
    anyTime: 'Any time',
    today: 'Today',
    lastWeek: 'Last 7 days',
    lastMonth: 'Last 30 days',
    more: 'Show more',
    showAll: 'Show all',
    noneFound: 'Nothing matches these filters.',
    empty: 'Your transcripts will be listed here.',
    firstSteps: [
      'Choose a recording above: a talk, an interview, a meeting; audio or video.',
      'Watch the text appear while it is recognised.',
      'Read, listen, correct, and save it as text or subtitles.',
    ],
    forScripts: 'Scripts can do all of this too:',
    unnamed: (date: string) => `Recording of ${date}`,
    remove: (name: string) => `Delete ${name}`,
    deleted: (name: string) => `${name} was deleted.`,
    cancel: (name: string) => `Cancel ${name}`,
    cancelled: 'Cancelled. Nothing was charged.',
    wasCancelled: 'Cancelled',
    progressOf: (name: string) => `Progress of ${name}`,
    statuses: {
      created: 'Being checked',
      downloading: 'Downloading',
      pending: 'Waiting for its turn',
      processing: 'Being transcribed',
      completed: 'Done',
      failed: 'Failed',
    },
  },

  search: {
    title: 'Search',
    field: 'Search all transcripts',
    results: 'Results',
    transcript: 'Transcript',
    lead: 'Type words that were said. Words in double quotes must follow each other. A result opens the transcript at that moment.',
    found: (count: number) => (count === 1 ? 'One place.' : `${count} places.`),
    firstFound: (count: number) => `The first ${count} places.`,
    nothing: (asked: string) => `No transcript contains “${asked}”. Try fewer words, or another spelling.`,
  },
}
