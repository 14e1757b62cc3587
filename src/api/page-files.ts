// The bundled web app inside the binary. The value is null in a checkout. The build (scripts/build.ts) replaces
// the content of this file.

import type { PageFile } from './page-bundle.ts'

export const pageFiles: PageFile[] | null = null
