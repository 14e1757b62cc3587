// The files of the bundled web app. `pageFiles` is null when the program runs from source code. The build
// (scripts/build.ts) replaces this module.

import type { PageFile } from './page-bundle.ts'

export const pageFiles: PageFile[] | null = null
