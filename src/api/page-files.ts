// The files of the bundled web app. In the source code, the value is null. The build (scripts/build.ts) replaces this
// module by one that contains the bundle.

import type { PageFile } from './page-bundle.ts'

export const pageFiles: PageFile[] | null = null
