// Compares the voices that an account has enrolled with the speakers of a recording, to find the names of the speakers.

import { dot } from './unit.ts'

/** A voice print that an account has enrolled under a name. `model` is the name of its embedding model. */
export type KnownVoice = { name: string; model: string; print: readonly number[] }

/**
 * Returns the name for each voice print in `prints`, or null if no known voice is similar enough. The most similar
 * pairs of a voice print and a known voice are matched first. A known voice gives its name to one voice print at most.
 */
export function namesOf(
  prints: readonly (Float32Array | null)[],
  known: readonly KnownVoice[],
  likenessMin: number,
): (string | null)[] {
  const pairs = prints
    .flatMap((print, index) =>
      known.map(({ name, print: other }) => ({
        index,
        name,
        likeness: print === null ? -1 : dot(print, Float32Array.from(other)),
      })),
    )
    .filter(({ likeness }) => likeness >= likenessMin)
    .toSorted((one, other) => other.likeness - one.likeness)
  const names: (string | null)[] = prints.map(() => null)
  for (const { index, name } of pairs) if (names[index] === null && !names.includes(name)) names[index] = name
  return names
}
