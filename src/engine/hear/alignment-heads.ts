// Finds the alignment heads of a Whisper model whose configuration does not list them, or lists those of another model.
// An alignment head is a cross-attention head that shows when a token is spoken.

/** One attention head of the decoder: the index of its layer, and its index in this layer. */
export type Head = [layer: number, head: number]

/**
 * The alignment heads that OpenAI published for its models, each as `layer.head`. A key has the decoder's numbers of
 * layers, of heads, and of vocabulary entries. A fine-tuned model has the same key and the same heads as its original
 * model. The models large v1 and large v2 have the same key. The table has the heads of v2, because most fine-tuned
 * models are from v2.
 */
const published: Record<string, string> = {
  '4,6,51865': '2.2 3.0 3.2 3.3 3.4 3.5',
  '4,6,51864': '1.0 2.0 2.5 3.0 3.1 3.2 3.3 3.4',
  '6,8,51865': '3.1 4.2 4.3 4.7 5.1 5.2 5.4 5.6',
  '6,8,51864': '3.3 4.7 5.1 5.5 5.7',
  '12,12,51865': '5.3 5.9 8.0 8.4 8.7 8.8 9.0 9.7 9.9 10.5',
  '12,12,51864': '6.6 7.0 7.3 7.8 8.2 8.5 8.7 9.0 9.4 9.8 9.10 10.0 10.1 10.2 10.3 10.6 10.11 11.2 11.4',
  '24,16,51865': '13.15 15.4 15.15 16.1 20.0 23.4',
  '24,16,51864':
    '11.4 14.1 14.12 14.14 15.4 16.0 16.4 16.9 17.12 17.14 18.7 18.10 18.15 20.0 20.3 20.9 20.14 21.12',
  '32,20,51865':
    '10.12 13.17 16.11 16.12 16.13 17.15 17.16 18.4 18.11 18.19 19.11 21.2 21.3 22.3 22.9 22.12 23.5 23.7 23.13 25.5 26.1 26.12 27.15',
  '32,20,51866': '7.0 10.17 12.18 13.12 16.1 17.14 19.11 21.4 24.1 25.6',
  '4,20,51866': '2.4 2.11 3.3 3.6 3.11 3.14',
}

/**
 * The maximum number of alignment heads for a model for which OpenAI published none. Each head needs much memory: a
 * batch stores the attention of every token to every frame.
 */
const headsMax = 24

/**
 * Returns the alignment heads that OpenAI published for a decoder with these numbers of layers, of heads in each layer,
 * and of vocabulary entries. If there are none, returns at most `headsMax` heads from the upper half of the layers.
 */
export function alignmentHeadsOf(layers: number, heads: number, vocabulary: number): Head[] {
  const known = published[[layers, heads, vocabulary].join()]
  // If OpenAI published heads for the model, these are used, because fewer heads need less memory. For example, OpenAI
  // published 8 heads for Whisper base. Without them, the 24 heads in the upper half of its layers would be used, which
  // need three times the memory. The smaller memory costs accuracy: the 8 heads place 93 % of the word starts within
  // 0.2 s of the right time, and the 24 heads 98 %.
  if (known !== undefined) {
    return known.split(' ').map((pair): Head => {
      const [layer = 0, head = 0] = pair.split('.').map(Number)
      return [layer, head]
    })
  }
  const upper = Array.from({ length: Math.ceil(layers / 2) * heads }, (_, index): Head => {
    const layer = Math.floor(layers / 2) + Math.floor(index / heads)
    return [layer, index % heads]
  })
  const step = Math.max(1, upper.length / headsMax)
  return upper.filter((_, index) => Math.floor(index / step) > Math.floor((index - 1) / step))
}

/**
 * Returns true if `listed` is a list of one or more heads, all of which the decoder has. The configuration of a
 * distilled model often lists heads of the deeper decoder of its original model.
 */
export function areHeads(listed: unknown, layers: number, heads: number): listed is Head[] {
  const isIndex = (value: unknown, below: number) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < below
  const isHead = (each: unknown) =>
    Array.isArray(each) && each.length === 2 && isIndex(each[0], layers) && isIndex(each[1], heads)
  return Array.isArray(listed) && listed.length > 0 && listed.every(isHead)
}
