// Sounds without speech: silence, noises, tones and music. The samples are the same in every run.

import { seeded } from './random.ts'

const rate = 16_000

/** A function that returns the next sample of a sound, from -1 to 1. */
type Sampler = () => number

/** For each kind of sound without speech, a function that makes its sampler. */
export const speechless: Record<string, () => Sampler> = {
  silence: () => () => 0,
  'white noise': () => whiteNoise(0.1),
  'pink noise': pinkNoise,
  'brown noise': brownNoise,
  'mains hum': mainsHum,
  'hum of a crowd': crowdHum,
  tones,
  music,
}

/** Yields `seconds` seconds of a sound, in parts of one second. */
export async function* soundOf(make: () => Sampler, seconds: number): AsyncGenerator<Float32Array> {
  const next = make()
  for (let second = 0; second < seconds; second++) yield Float32Array.from({ length: rate }, next)
}

function whiteNoise(level: number, seed = 1): Sampler {
  const random = seeded(seed)
  return () => level * (2 * random.next() - 1)
}

/**
 * Pink noise: its power falls by 3 dB per octave. It is the sum of five low-pass filtered white noises, whose cut-off
 * frequencies are about two octaves apart.
 */
function pinkNoise(): Sampler {
  const white = whiteNoise(0.25, 2)
  const filters = [0.9972, 0.985, 0.94, 0.76, 0.3].map(keep => ({ keep, value: 0 }))
  return () => {
    let sum = 0
    for (const filter of filters) {
      filter.value = filter.keep * filter.value + Math.sqrt(1 - filter.keep) * 0.2 * white()
      sum += filter.value
    }
    return sum
  }
}

/**
 * Brown noise: its power falls by 6 dB per octave. Each sample is the sum of all random steps so far. Older steps count
 * less, so that the sum stays bounded.
 */
function brownNoise(): Sampler {
  const white = whiteNoise(0.02, 3)
  let value = 0
  return () => {
    value = 0.998 * value + white()
    return value
  }
}

/** The hum of a power line: 50 Hz with harmonics, in faint noise. */
function mainsHum(): Sampler {
  const noise = whiteNoise(0.003, 4)
  const wave = (turn: number) => [1, 2, 3, 5, 7].reduce((sum, n) => sum + Math.sin(n * turn) / n, 0)
  const length = rate / 50
  const period = Float64Array.from({ length }, (_, n) => 0.05 * wave((2 * Math.PI * n) / length))
  let at = 0
  return () => period[at++ % length]! + noise()
}

/**
 * A distant crowd without words. Forty voices hum vowels of a fifth of a second to half a second. The harmonics of a
 * vowel are loudest near two random frequencies (formants): 300 to 800 Hz, and 900 to 2200 Hz.
 */
function crowdHum(): Sampler {
  const voices = Array.from({ length: 40 }, (_, voice) => hummingVoice(100 + voice))
  const second = new Float32Array(rate)
  let at = rate
  return () => {
    if (at === rate) {
      second.fill(0)
      for (const addTo of voices) addTo(second)
      at = 0
    }
    return second[at++]!
  }
}

/** The loudness of a vowel over its length, in 4096 steps: half a period of a sine. */
const loudness = Float32Array.from({ length: 4097 }, (_, step) => 0.02 * Math.sin((Math.PI * step) / 4096))

type Vowel = { period: Float32Array; span: number; sung: number }

/** Returns a function that adds the next samples of a voice to a sound. */
function hummingVoice(seed: number): (sound: Float32Array) => void {
  const random = seeded(seed)
  let pitch = 80 + 160 * random.next()
  const nextVowel = (): Vowel => {
    const span = Math.round(rate * (0.2 + 0.3 * random.next()))
    pitch *= 0.9 + 0.2 * random.next()
    if (pitch < 80 || pitch > 260) pitch = 150
    return { period: vowelOf(pitch, 300 + 500 * random.next(), 900 + 1300 * random.next()), span, sung: 0 }
  }
  let vowel = nextVowel()
  return sound => {
    for (let at = 0; at < sound.length; ) {
      if (vowel.sung === vowel.span) vowel = nextVowel()
      at += sing(vowel, sound.subarray(at))
    }
  }
}

/** Adds the rest of a vowel to a sound, up to the end of the sound. Returns the number of samples. */
function sing(vowel: Vowel, sound: Float32Array): number {
  const { period, span, sung } = vowel
  const count = Math.min(span - sung, sound.length)
  const steps = 4096 / span
  for (let at = 0, place = sung % period.length; at < count; at++) {
    sound[at]! += loudness[(steps * (sung + at)) | 0]! * period[place]!
    place = place + 1 === period.length ? 0 : place + 1
  }
  vowel.sung += count
  return count
}

/** Returns one period of a vowel. `pitch`, and the two formants `first` and `second`, are frequencies in Hz. */
function vowelOf(pitch: number, first: number, second: number): Float32Array {
  const length = Math.round(rate / pitch)
  const period = new Float32Array(length)
  const sines = Float64Array.from({ length }, (_, n) => Math.sin((2 * Math.PI * n) / length))
  for (let harmonic = 1; harmonic * pitch < 4000; harmonic++) {
    const hz = harmonic * pitch
    const near = (formant: number) => 1 / (1 + ((hz - formant) / 120) ** 2)
    const level = near(first) + 0.5 * near(second) + 0.02
    for (let n = 0, place = 0; n < length; n++) {
      period[n]! += level * sines[place]!
      place = place + harmonic < length ? place + harmonic : place + harmonic - length
    }
  }
  return period
}

/** Telephone tones. Each second has 0.7 s of a random pair of tones, and then a pause of 0.3 s. */
function tones(): Sampler {
  const random = seeded(6)
  let at = 0
  let pair = [440, 480]
  return () => {
    const second = at % rate
    if (second === 0)
      pair = [random.pick([350, 440, 697, 770, 852, 941]), random.pick([480, 1209, 1336, 1477, 2600])]
    const time = at++ / rate
    if (second > 0.7 * rate) return 0
    return pair.reduce((sum, hz) => sum + 0.15 * Math.sin(2 * Math.PI * hz * time), 0)
  }
}

/** The root notes of the chords, in semitones above the note A of 110 Hz. */
const roots = [0, 5, 7, 9, 2, 7]

/**
 * A note that fades. `sine` and `cosine` are the sine and the cosine of the phase of the next sample. `step` has the
 * sine and the cosine of the phase's growth per sample. Each sample is computed from the previous one, because
 * `Math.sin` and `Math.exp` would take seven times as long.
 */
type Note = {
  from: number
  level: number
  sine: number
  cosine: number
  step: { sine: number; cosine: number }
}

/**
 * Music: plucked chords, a melody, a bass and a drum. There are two beats a second, and a new chord every two seconds.
 */
function music(): Sampler {
  const random = seeded(7)
  const beat = rate / 2
  let notes: Note[] = []
  let at = 0
  const pluck = (semitones: number, level: number) => {
    const angle = (2 * Math.PI * 110 * 2 ** (semitones / 12)) / rate
    const step = { sine: Math.sin(angle), cosine: Math.cos(angle) }
    notes.push({ from: at, level, sine: 0, cosine: 1, step })
  }
  const decay = Math.exp(-2.5 / rate)
  return () => {
    if (at % beat === 0) {
      const root = roots[Math.floor(at / (4 * beat)) % roots.length]!
      notes = notes.filter(({ from }) => at - from < 3 * rate)
      pluck(root - 12, 0.12)
      for (const step of [0, 4, 7]) pluck(root + step, 0.06)
      pluck(root + 12 + random.pick([0, 4, 7, 12, 16]), 0.1)
    }
    const drum = 0.1 * Math.exp(-(at % beat) / 600) * (2 * random.next() - 1)
    let sum = drum
    for (const note of notes) {
      const { sine, cosine, step } = note
      // Adds the note and its two first overtones: sin 2x = 2 sin x cos x, and sin 3x = 3 sin x - 4 sin³ x.
      sum += note.level * (sine + sine * cosine + 0.25 * sine * (3 - 4 * sine * sine))
      note.level *= decay
      note.sine = sine * step.cosine + cosine * step.sine
      note.cosine = cosine * step.cosine - sine * step.sine
    }
    at++
    return Math.max(-1, Math.min(1, sum))
  }
}
