// The texts of the page of one job: the progress, and then the transcript with its tools.

export const transcriptWords = {
  job: {
    failed: 'This recording could not be transcribed.',
    costsNothing: 'Nothing was charged.',
    progress: 'Progress',
    staysSafe: 'You can close this page; the work goes on.',
    cancel: 'Cancel',
    soFar: 'Recognised so far',
    soon: 'The text appears here part by part.',
    speakersLater: 'The speakers are added at the end.',
    chooseAgain: 'Choose the recording again',
    remove: 'Delete',
  },

  transcript: {
    label: 'Transcript',
    aside: 'Recording and speakers',
    tools: 'Tools',
    edit: 'Edit',
    find: 'Find',
    export: 'Export',
    copy: 'Copy',
    copyWithTimes: 'Copy with times',
    copyMoment: 'Copy link',
    doubtful: 'Unsure words',
    print: 'Print',
    remove: 'Delete',
    moreTools: 'More',
    fewerTools: 'Less',
    fullScreen: 'Full screen',
    hideSubtitles: 'Hide subtitles',
    follow: 'Back to the spoken word',
    subtitles: 'Subtitles',
    noWords: 'No words were recognised in this recording. It may be silent, or contain only music.',
    playFrom: (time: string) => `Play from ${time}`,
    linkCopied: (time: string) => `The link to ${time} is copied.`,
    textCopied: 'The text is copied.',
    noClipboard:
      'The browser did not allow this page to copy. Most browsers allow it only with https. Select the text and copy it yourself.',
  },

  player: {
    title: 'Player',
    play: 'Play',
    pause: 'Pause',
    back: 'Back 10 seconds',
    forward: 'Forward 10 seconds',
    speed: 'Speed',
    skipSilence: 'Skip silence',
    position: 'Position',
    gone: 'The server has deleted the recording, as it does some time after each job. The text stays.',
    notLoaded: (reason: string) => `The recording could not be loaded. ${reason}`,
    unplayable: 'Your browser cannot play this kind of recording. The text is complete.',
  },

  keyboard: {
    title: 'Keyboard',
    selectHint: 'Select a passage to play it, copy it, link to it, or save it as subtitles.',
    on: 'Single keys work',
    list: [
      ['Space, K', 'Play and pause'],
      ['J, L', 'Back and forward 10 seconds'],
      ['←, →', 'Back and forward 5 seconds'],
      [', .', 'Slower and faster'],
      ['E', 'Edit'],
      ['F', 'Find and replace'],
      ['X', 'Export'],
      ['?', 'This list'],
    ] as [string, string][],
  },

  editing: {
    done: 'Done',
    undo: 'Undo',
    redo: 'Redo',
    keys: 'Enter: next sentence · Ctrl+Enter: play it · Ctrl+Space: pause · Esc: done',
    field: (time: string) => `Sentence at ${time}`,
    states: {
      saved: 'All changes are saved.',
      waiting: 'Changes are saved in a moment.',
      saving: 'Saving …',
      failed: 'Not saved yet.',
    },
    offline: 'Not saved yet: the server does not answer.',
    notSaved: 'Your changes are kept in this browser, but the server did not accept them:',
    refused: (time: string) =>
      `The server does not accept the sentence at ${time}; other changes are saved. It may be too long: move a part of it into the sentence after it.`,
    conflict: 'Another person changed this sentence too',
    conflictLead: (time: string) => `Both versions of the sentence at ${time} are kept until you choose.`,
    mine: 'Yours',
    theirs: 'On the server',
    keepMine: 'Keep mine',
    keepTheirs: 'Take theirs',
  },

  /**
   * The texts of the controls that move between places in a transcript. A place is a search match or a doubtful word.
   * `count` says which place is shown, for example `3 of 12`.
   */
  steps: {
    count: (at: number, all: number) => `${at} of ${all}`,
    previous: 'Previous',
    next: 'Next',
  },

  doubt: {
    title: 'Unsure words',
    sample: 'Underlined:',
    legend: (count: number) => {
      if (count === 0) return 'No word of this transcript is unsure.'
      return count === 1 ? 'one word that may be wrong.' : `${count} words that may be wrong.`
    },
  },

  find: {
    title: 'Find and replace',
    field: 'Find in this transcript',
    none: 'not found',
    whole: 'Whole words',
    cased: 'Same case',
    replacement: 'Replace with',
    replace: 'Replace',
    replaceAll: 'Replace all',
    replaced: (count: number) => (count === 1 ? 'One place was replaced.' : `${count} places were replaced.`),
  },

  speakers: {
    title: (count: number) => (count === 1 ? 'One speaker' : `${count} speakers`),
    nameOf: (name: string) => `Name of ${name}`,
    renameHere: 'Change the name',
    rename: 'Type a name; it changes in the whole transcript',
    renamed: (name: string) => `The name ${name} is saved.`,
    share: (share: string, time: string) => `${share} · ${time}`,
    showAll: (count: number) => `Show all ${count}`,
  },

  selection: {
    title: 'Selected passage',
    play: 'Play',
    copy: 'Copy',
    copyWithTime: 'Copy with time',
    link: 'Copy link',
    subtitles: 'Save as subtitles',
  },

  exports: {
    title: 'Export',
    format: 'Format',
    formats: [
      ['text', 'Text'],
      ['srt', 'Subtitles (SRT)'],
      ['vtt', 'Subtitles (WebVTT)'],
      ['json', 'Data (JSON)'],
    ] as const,
    speakers: 'With speaker names',
    times: 'With times',
    maxWords: 'Most words in a subtitle',
    maxChars: 'Most characters in a subtitle',
    maxSeconds: 'Most seconds of a subtitle',
    sentences: 'New subtitle for each sentence',
    preview: 'Preview',
    save: 'Save file',
    onVideo: 'Show on the video',
    part: 'Only a part? Close this and select the part in the text.',
    onlySelected: (from: string, to: string) => `Only the selection, ${from} – ${to}`,
  },
}
