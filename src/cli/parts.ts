// The parts of the built program that no package.json lists: Bun, the models, and the libraries in native files, such
// as FFmpeg. The licence of each part is an SPDX expression.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ffmpeg } from '../../native/built.json'

export type LicensedPart = {
  name: string
  version?: string
  licence: string
  /** The type of this part, by its name in CycloneDX. */
  type: 'application' | 'library' | 'machine-learning-model'
  /** The text of the licence notice of this part. */
  text: string
  /** The place where the source code of this part is published. */
  source: string
  /**
   * The files of the built program that belong to this part, such as a library. An entry is a file path, or a folder
   * path that ends in a slash. The longest matching entry determines the part of a file.
   */
  files?: string[]
  /** The SHA-256 of the source code archive. Missing if the build does not use one. */
  sourceSha256?: string
}

/** Returns all parts. `root` is the folder with the licence texts. */
export function partsOf(root: string): LicensedPart[] {
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  return [...mediaProgramParts(text), ...engineLibraries, ...builtInModels(text), bun]
}

/** Reads a file with a licence text. `path` is relative to the project folder. */
type ReadText = (path: string) => string

function mediaProgramParts(text: ReadText): LicensedPart[] {
  return [
    {
      name: 'FFmpeg',
      version: ffmpeg.version,
      licence: 'LGPL-2.1-or-later',
      type: 'library',
      source: ffmpeg.address,
      sourceSha256: ffmpeg.sha256,
      text: [
        'Copyright the FFmpeg developers. Its libraries are in the media program (steno-media), unchanged and without',
        `any part under the GPL. The complete source is ${ffmpeg.address}`,
        `(SHA-256 ${ffmpeg.sha256}); every mirror of Debian has the same file as`,
        `${ffmpeg.debian}. The folder native of steno's source has the program around it, the`,
        'options and the script of the build. You may replace the program by a build of your own: the setting',
        'STENO_MEDIA names it. The GNU Lesser General Public License, version 2.1, is at the end.',
      ].join('\n'),
      files: ['native/linux-x64/steno-media', 'native/linux-arm64/steno-media'],
    },
    {
      name: 'musl',
      version: '1.2.5',
      licence: 'MIT',
      type: 'library',
      source: 'https://musl.libc.org',
      text: text('licences/musl.txt'),
    },
    {
      name: 'compiler-rt',
      licence: 'Apache-2.0 WITH LLVM-exception',
      type: 'library',
      source: 'https://github.com/llvm/llvm-project',
      text: 'The runtime library of the compiler, in the media program. Part of the LLVM project.',
    },
  ]
}

const engineLibraries: LicensedPart[] = [
  {
    name: 'ONNX Runtime',
    licence: 'MIT',
    type: 'library',
    source: 'https://github.com/microsoft/onnxruntime',
    text: [
      'Copyright Microsoft Corporation. The file ThirdPartyNotices.txt of its source lists the notices of its own',
      'parts, all under permissive licences or MPL-2.0.',
    ].join('\n'),
    files: ['node_modules/onnxruntime-node/'],
  },
  {
    name: 'Operations for ONNX Runtime',
    licence: 'Apache-2.0',
    type: 'library',
    source: 'native/operators in the source of steno',
    text: 'Written for steno; under the licence of steno.',
    files: ['native/linux-x64/libsteno-operators.so'],
  },
  {
    name: 'libstdc++ and libgcc',
    licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    type: 'library',
    source: 'https://gcc.gnu.org',
    text: [
      'Copyright Free Software Foundation. Copied from the machine of the build, for machines that have none. The',
      'exception lets programs that use them have any licence. Their source is the package gcc of the Linux',
      'distribution of the build, and https://gcc.gnu.org. Both texts are at the end.',
    ].join('\n'),
    files: ['lib/'],
  },
]

function builtInModels(text: ReadText): LicensedPart[] {
  return [
    {
      name: 'Silero VAD',
      licence: 'MIT',
      type: 'machine-learning-model',
      source: 'https://github.com/snakers4/silero-vad',
      text: 'Copyright Silero Team.',
      files: ['node_modules/@ricky0123/vad-web/'],
    },
    {
      name: 'Whisper base',
      licence: 'MIT',
      type: 'machine-learning-model',
      source: 'https://github.com/openai/whisper',
      text: text('models/whisper-base/LICENSE'),
      files: ['models/whisper-base/'],
    },
    {
      name: 'Voice encoder of Resemblyzer',
      licence: 'Apache-2.0',
      type: 'machine-learning-model',
      source: 'https://github.com/resemble-ai/Resemblyzer',
      text: text('models/voice-encoder/LICENSE'),
      files: ['models/voice-encoder/'],
    },
    {
      name: 'Pocket models',
      licence: 'Apache-2.0',
      type: 'machine-learning-model',
      source: 'models/pocket in the source of steno',
      text: [
        'Trained for steno; under the licence of steno. The models that tell speakers apart and count voices were trained',
        'on synthetic voices, and on recordings of LibriSpeech by V. Panayotov, G. Chen, D. Povey and S. Khudanpur',
        '(ICASSP 2015): https://www.openslr.org/12, under CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. The',
        'recordings were cut, mixed and changed for the training, and are not in the program.',
      ].join('\n'),
      files: ['models/pocket/', 'models/whisper-base/voice-network.onnx'],
    },
  ]
}

const bun: LicensedPart = {
  name: 'Bun',
  version: Bun.version,
  licence: 'MIT AND LGPL-2.0-or-later AND LGPL-2.1-only AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause',
  type: 'application',
  source: 'https://github.com/oven-sh/bun',
  text: [
    'Copyright Oven. It contains JavaScriptCore of the WebKit project, under LGPL-2.0-or-later, and other libraries.',
    'https://bun.com/docs/project/licensing lists them, and says how to link Bun with another build of JavaScriptCore.',
  ].join('\n'),
}
