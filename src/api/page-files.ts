// The bundled web app inside the program. In a checkout the value is null. The build (scripts/build.ts)
// replaces the content of this file by the bundle.

import type { PageFile } from './page-bundle.ts'

export const pageFiles: PageFile[] | null = null
