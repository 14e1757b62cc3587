// The row ids of utterances in the database.

/** Maximum number of utterances of a transcript. A transcript of ten hours of speech has about 10,000 utterances. */
export const utterancesMax = 2 ** 20

/**
 * Returns the row id of an utterance. `seq` is the number of the job. A newer job has higher row ids. Within a job, a
 * later utterance has a lower row id. So in descending order of row ids, the newest job comes first, with its
 * utterances in the order of speech.
 */
export function utteranceId(seq: number, index: number): number {
  return seq * utterancesMax + (utterancesMax - 1 - index)
}

export function placeOfUtterance(id: number): { seq: number; index: number } {
  return { seq: Math.floor(id / utterancesMax), index: utterancesMax - 1 - (id % utterancesMax) }
}

/** The fields of a job that the search index needs. `seq` is the number of the job in the table `jobs`. */
export type IndexedJob = { id: string; seq: number }

/** Returns the lowest and the highest row id that utterances of a job can have. */
export function rowsOf({ seq }: Pick<IndexedJob, 'seq'>): { first: number; last: number } {
  return { first: seq * utterancesMax, last: (seq + 1) * utterancesMax - 1 }
}
