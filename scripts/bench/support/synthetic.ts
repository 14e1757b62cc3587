// The voices of three speech synthesizers: espeak-ng, flite and festival. The diarization models were not trained on
// these voices.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSound } from '../../../test/support/read-sound.ts'
import { speechOf, type Voice } from './conversations.ts'

const espeak = 'm5 Andrea edward linda Michael steph3 iven2 grandma f4 m3 max Gene antonio Alicia'.split(' ')
const flite = ['awb', 'slt']
const festival = ['ked_diphone', 'lp_diphone', 'czech_dita']
const utterancesEach = 6

/**
 * Speaks some of the lines with the voices of all installed synthesizers. A voice that cannot speak its lines is left
 * out.
 */
export async function syntheticVoices(lines: readonly string[]): Promise<Voice[]> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  const file = join(folder, 'said.wav')
  const commands: [string, (text: string) => string[]][] = [
    ...espeak.map(name => voiceOf(name, text => ['espeak-ng', '-v', `en-us+${name}`, '-w', file, text])),
    ...flite.map(name => voiceOf(name, text => ['flite', '-voice', name, '-t', text, '-o', file])),
    ...festival.map(name => voiceOf(name, () => ['text2wave', '-eval', `(voice_${name})`, '-o', file])),
  ]
  const voices: Voice[] = []
  try {
    for (const [index, [name, command]] of commands.entries()) {
      if (!Bun.which(command('')[0] ?? '')) continue
      const utterances: Float32Array[] = []
      for (let at = 0; at < utterancesEach; at++) {
        const text = lines[(index * utterancesEach + at) % lines.length] ?? ''
        const said = Bun.spawnSync(command(text), {
          stdin: Buffer.from(text),
          stdout: 'ignore',
          stderr: 'ignore',
        })
        const sound = said.exitCode === 0 ? await readSound(file).catch(() => null) : null
        if (sound && speechOf(sound).length > 0) utterances.push(sound)
      }
      if (utterances.length === utterancesEach) voices.push({ name, utterances })
    }
    return voices
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function voiceOf(name: string, command: (text: string) => string[]): [string, (text: string) => string[]] {
  return [name, command]
}
