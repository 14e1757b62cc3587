// The files of the bundled web app. `pageFiles` is null when the program runs from its source code. The build
// (scripts/build.ts) replaces this module with a module that contains the bundle.

import type { PageFile } from './page-bundle.ts'

export const pageFiles: PageFile[] | null = null
