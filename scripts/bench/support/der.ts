// Scores who-spoke-when against the truth: diarization error rate and Jaccard error rate, exactly, over the
// stretches between all the edges.

export type Segment = { from: number; to: number; speaker: string }

export type Score = {
  /** Seconds of speech in the truth that count, two at once counted twice. */
  speech: number
  missed: number
  false: number
  confused: number
  /** Missed, false and confused by speech. */
  rate: number
  /** Mean over the speakers of the truth of what their union with their match does not share. */
  jaccard: number
  /** Speaker of the truth to speaker of the hypothesis. */
  matched: Map<string, string>
}

/** `collar` seconds on either side of every edge of the truth do not count. */
export function score(truth: readonly Segment[], said: readonly Segment[], collar = 0.25): Score {
  const pieces = piecesOf(truth, said, collar)
  const [names, labels] = [namesOf(truth), namesOf(said)]
  const shared = names.map(name =>
    labels.map(label => sum(pieces, each => Number(each.truth.has(name) && each.said.has(label)))),
  )
  const matched = new Map(
    bestMatch(shared).flatMap((label, name) =>
      label >= 0 && shared[name]![label]! > 0 ? [[names[name]!, labels[label]!] as const] : [],
    ),
  )
  const right = (each: Piece) => [...each.truth].filter(name => each.said.has(matched.get(name) ?? '')).length
  const speech = sum(pieces, each => each.truth.size)
  const missed = sum(pieces, each => Math.max(0, each.truth.size - each.said.size))
  const added = sum(pieces, each => Math.max(0, each.said.size - each.truth.size))
  const confused = sum(pieces, each => Math.min(each.truth.size, each.said.size) - right(each))
  const jaccards = names.map(name => {
    const label = matched.get(name) ?? ''
    const both = sum(pieces, each => Number(each.truth.has(name) && each.said.has(label)))
    const either = sum(pieces, each => Number(each.truth.has(name) || each.said.has(label)))
    return either > 0 ? 1 - both / either : 0
  })
  return {
    speech,
    missed,
    false: added,
    confused,
    rate: speech > 0 ? (missed + added + confused) / speech : 0,
    jaccard: jaccards.reduce((total, each) => total + each, 0) / Math.max(1, jaccards.length),
    matched,
  }
}

type Piece = { seconds: number; truth: Set<string>; said: Set<string> }

function piecesOf(truth: readonly Segment[], said: readonly Segment[], collar: number): Piece[] {
  const zones = truth
    .flatMap(each => [each.from, each.to])
    .map(edge => ({ from: edge - collar, to: edge + collar }))
    .toSorted((one, other) => one.from - other.from)
  const edges = [...truth, ...said, ...zones].flatMap(each => [each.from, each.to])
  const sorted = [...new Set(edges)].toSorted((one, other) => one - other)
  const pieces: Piece[] = []
  const opens = [
    ...truth.map(each => ({ each, kind: 'truth' as const })),
    ...said.map(each => ({ each, kind: 'said' as const })),
  ].toSorted((one, other) => one.each.from - other.each.from)
  let open: typeof opens = []
  let [next, zone] = [0, 0]
  for (const [at, from] of sorted.entries()) {
    const to = sorted[at + 1]
    if (to === undefined) break
    while (next < opens.length && opens[next]!.each.from <= from) open.push(opens[next++]!)
    open = open.filter(({ each }) => each.to > from)
    while (zone < zones.length && zones[zone]!.to <= from) zone++
    const middle = (from + to) / 2
    if (zones[zone] && zones[zone]!.from < middle && middle < zones[zone]!.to) continue
    const speakers = (kind: string) =>
      new Set(open.filter(each => each.kind === kind).map(({ each }) => each.speaker))
    pieces.push({ seconds: to - from, truth: speakers('truth'), said: speakers('said') })
  }
  return pieces
}

function namesOf(segments: readonly Segment[]): string[] {
  return [...new Set(segments.map(each => each.speaker))]
}

function sum(pieces: readonly Piece[], weight: (piece: Piece) => number): number {
  return pieces.reduce((total, each) => total + each.seconds * weight(each), 0)
}

/** The Hungarian method: for each row the column that makes the sum greatest, -1 where there are too few. */
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

/** Segments out of RTTM: `SPEAKER file 1 start duration … name`. */
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
