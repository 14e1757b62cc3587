// Reads the PLDA model (probabilistic linear discriminant analysis of embeddings) of pyannote's community-1 pipeline
// from its files.

import { join } from 'node:path'
import { pldaFiles } from '../models/installed-voices.ts'
import { readNpz } from './npz.ts'
import { Plda } from './plda.ts'

export function openPlda(folder: string): Plda {
  const arrays = new Map(pldaFiles.flatMap(file => [...readNpz(join(folder, file))]))
  const get = (name: string, length?: number) => {
    const values = arrays.get(name)?.values
    if (!values || (length !== undefined && values.length !== length))
      throw new Error(`${folder} has no usable PLDA array ${name}: run steno models pull again`)
    return values
  }
  const between = get('psi')
  const mean = get('mean1')
  return new Plda({
    mean,
    projectedMean: get('mean2', between.length),
    projection: get('lda', mean.length * between.length),
    centre: get('mu', between.length),
    transform: get('tr', between.length ** 2),
    between,
  })
}
