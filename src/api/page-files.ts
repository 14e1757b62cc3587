// The bundled web app, inside the program. In a checkout, the value is null. The build (scripts/build.ts) replaces
// this file by one with the bundle.

import type { PageFile } from './page-bundle.ts'

export const pageFiles: PageFile[] | null = null
