// Scores diarization against the reference: diarization error rate (DER) and Jaccard error rate (JER). The score uses
// the exact starts and ends of all segments, and does not round them to frames.

export type Segment = { from: number; to: number; speaker: string }

export type Score = {
  /**
   * The seconds of speech in the reference. A second with two speakers counts twice. The unscored time around the start
   * and end of each segment (the collar) does not count.
   */
  speech: number
  missed: number
  false: number
  confused: number
  /** The diarization error rate: the sum of `missed`, `false` and `confused`, divided by `speech`. */
  rate: number
  /**
   * The Jaccard error rate: the mean Jaccard distance between each reference speaker and the matched speaker in the
   * diarization.
   */
  jaccard: number
  /** The matched label in the diarization for each speaker in the reference. A speaker without a match is left out. */
  matched: Map<string, string>
}

/**
 * Scores the segments `said` against the reference `truth`. The `collar` seconds before and after each start and end of
 * a reference segment are not scored.
 */
export function score(truth: readonly Segment[], said: readonly Segment[], collar = 0.25): Score {
  const pieces = piecesOf(truth, said, collar)
  const names = namesOf(truth)
  const labels = namesOf(said)
  const shared = names.map(name =>
    labels.map(label => sum(pieces, piece => Number(piece.truth.has(name) && piece.said.has(label)))),
  )
  const matched = new Map(
    bestMatch(shared).flatMap((label, name) =>
      label >= 0 && shared[name]![label]! > 0 ? [[names[name]!, labels[label]!] as const] : [],
    ),
  )
  const right = (piece: Piece) =>
    [...piece.truth].filter(name => piece.said.has(matched.get(name) ?? '')).length
  const speech = sum(pieces, piece => piece.truth.size)
  const missed = sum(pieces, piece => Math.max(0, piece.truth.size - piece.said.size))
  const added = sum(pieces, piece => Math.max(0, piece.said.size - piece.truth.size))
  const confused = sum(pieces, piece => Math.min(piece.truth.size, piece.said.size) - right(piece))
  const jaccards = names.map(name => {
    const label = matched.get(name) ?? ''
    const both = sum(pieces, piece => Number(piece.truth.has(name) && piece.said.has(label)))
    const either = sum(pieces, piece => Number(piece.truth.has(name) || piece.said.has(label)))
    return either > 0 ? 1 - both / either : 0
  })
  return {
    speech,
    missed,
    false: added,
    confused,
    rate: speech > 0 ? (missed + added + confused) / speech : 0,
    jaccard: jaccards.reduce((total, distance) => total + distance, 0) / Math.max(1, jaccards.length),
    matched,
  }
}

type Piece = { seconds: number; truth: Set<string>; said: Set<string> }

function piecesOf(truth: readonly Segment[], said: readonly Segment[], collar: number): Piece[] {
  const zones = truth
    .flatMap(({ from, to }) => [from, to])
    .map(edge => ({ from: edge - collar, to: edge + collar }))
    .toSorted((one, other) => one.from - other.from)
  const edges = [...truth, ...said, ...zones].flatMap(({ from, to }) => [from, to])
  const sorted = [...new Set(edges)].toSorted((one, other) => one - other)
  const pieces: Piece[] = []
  const opens = [
    ...truth.map(segment => ({ segment, kind: 'truth' as const })),
    ...said.map(segment => ({ segment, kind: 'said' as const })),
  ].toSorted((one, other) => one.segment.from - other.segment.from)
  let open: typeof opens = []
  let [next, zone] = [0, 0]
  for (const [at, from] of sorted.entries()) {
    const to = sorted[at + 1]
    if (to === undefined) break
    while (next < opens.length && opens[next]!.segment.from <= from) open.push(opens[next++]!)
    open = open.filter(({ segment }) => segment.to > from)
    while (zone < zones.length && zones[zone]!.to <= from) zone++
    const middle = (from + to) / 2
    if (zones[zone] && zones[zone]!.from < middle && middle < zones[zone]!.to) continue
    const speakers = (kind: string) =>
      new Set(open.filter(item => item.kind === kind).map(({ segment }) => segment.speaker))
    pieces.push({ seconds: to - from, truth: speakers('truth'), said: speakers('said') })
  }
  return pieces
}

function namesOf(segments: readonly Segment[]): string[] {
  return [...new Set(segments.map(segment => segment.speaker))]
}

function sum(pieces: readonly Piece[], weight: (piece: Piece) => number): number {
  return pieces.reduce((total, piece) => total + piece.seconds * weight(piece), 0)
}

/**
 * Assigns a different column to each row, so that the sum of `gain` over these pairs is as large as possible (Hungarian
 * method). Returns the column of each row, or -1 for a row that gets no column.
 */
export function bestMatch(gain: readonly (readonly number[])[]): number[] {
  const rows = gain.length
  const columns = Math.max(rows, gain[0]?.length ?? 0)
  const cost = (row: number, column: number) => -(gain[row]?.[column] ?? 0)
  const [u, v] = [new Float64Array(rows + 1), new Float64Array(columns + 1)]
  const owner = new Int32Array(columns + 1)
  const way = new Int32Array(columns + 1)
  for (let row = 1; row <= rows; row++) {
    owner[0] = row
    let column = 0
    const least = new Float64Array(columns + 1).fill(Number.POSITIVE_INFINITY)
    const used = new Uint8Array(columns + 1)
    do {
      used[column] = 1
      const current = owner[column]!
      let [delta, nearest] = [Number.POSITIVE_INFINITY, 0]
      for (let next = 1; next <= columns; next++) {
        if (used[next]) continue
        const reduced = cost(current - 1, next - 1) - u[current]! - v[next]!
        if (reduced < least[next]!) {
          least[next] = reduced
          way[next] = column
        }
        if (least[next]! < delta) [delta, nearest] = [least[next]!, next]
      }
      for (let next = 0; next <= columns; next++) {
        if (used[next]) {
          u[owner[next]!]! += delta
          v[next]! -= delta
        } else least[next]! -= delta
      }
      column = nearest
    } while (owner[column] !== 0)
    for (; column !== 0; column = way[column]!) owner[column] = owner[way[column]!]!
  }
  const match = gain.map(() => -1)
  for (let column = 1; column <= columns; column++) {
    const row = owner[column]! - 1
    if (row >= 0 && column <= (gain[0]?.length ?? 0)) match[row] = column - 1
  }
  return match
}

/** Returns the number of speakers in the segments. */
export function speakerCountOf(segments: readonly Segment[]): number {
  return new Set(segments.map(({ speaker }) => speaker)).size
}

/** Parses segments from RTTM: `SPEAKER file 1 start duration … name`. */
export function readRttm(text: string): Segment[] {
  return text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([kind]) => kind === 'SPEAKER')
    .map(fields => {
      const [from, duration] = [Number(fields[3]), Number(fields[4])]
      return { from, to: from + duration, speaker: fields[7]! }
    })
}
