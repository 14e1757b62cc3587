// The texts and labels of the web app. The folder `words` contains the texts of the pages and of errors.

import { accountWords } from './words/account.ts'
import { faultWords } from './words/faults.ts'
import { jobWords } from './words/jobs.ts'
import { operatorWords } from './words/operator.ts'
import { transcriptWords } from './words/transcript.ts'

export const words = {
  loading: 'Loading …',
  tryAgain: 'Try again',
  reload: 'Refresh',
  outOfDate: 'These data may be out of date, because they could not be loaded again.',
  undo: 'Undo',
  undoKeys: 'Ctrl+Z',
  close: 'Close',
  justNow: 'just now',
  cancel: 'Cancel',
  save: 'Save',
  saved: 'Saved.',
  skip: 'Skip to the content',

  units: {
    seconds: (count: string) => `${count} s`,
    minutes: (count: string) => `${count} min`,
    hours: (count: string) => `${count} h`,
  },

  notFound: {
    title: 'There is no such page',
    text: 'The address may be wrong, or the transcript that it showed was deleted.',
    back: 'To your transcripts',
  },

  header: {
    main: 'Main',
    jobs: 'Transcripts',
    search: 'Search',
    account: 'Account',
    balance: 'Balance',
    keys: 'API keys',
    webhooks: 'Webhooks',
    apps: 'Connected apps',
    operator: 'Operator',
    docs: 'API reference',
    signOut: 'Sign out',
    theme: 'Colours',
    themes: { auto: 'Automatic', light: 'Light', dark: 'Dark' },
  },

  ...faultWords,
  ...accountWords,
  ...jobWords,
  ...transcriptWords,
  ...operatorWords,
}
