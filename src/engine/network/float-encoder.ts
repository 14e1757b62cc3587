// Builds the ONNX graph of Whisper's encoder with float weights. The graph also computes the keys and values for the
// cross-attention of the decoder.

import { FloatLayers } from './float-layers.ts'
import type { FloatSize, FloatType } from './float-size.ts'
import type { FloatWeights } from './float-weights.ts'

/**
 * Builds the encoder model. Its input is `mel` [rows, mels, 2 × frames], with a row for each window. Its outputs
 * `key.N` and `value.N` [rows, frames, width] are the cross-attention keys and values of decoder layer N. If the model
 * has alignment heads, there is one more output. Alignment heads are attention heads that follow the speech, and give
 * the times of the words. The output `aligned` [rows, alignment heads, head size, frames] has the keys of these heads,
 * divided by √(head size).
 */
export function floatEncoder(weights: FloatWeights, size: FloatSize, type: FloatType): FloatLayers {
  const layers = new FloatLayers(weights, type, size.heads)
  const { graph } = layers
  const { width } = size
  const mels = layers.find('encoder.conv1.weight').dims[1] ?? 0
  const mel = layers.cast(graph.input('mel', 'float32', ['rows', mels, 'mel frames']), type)
  const heard = graph.add('Transpose', [convolve(layers, 2, convolve(layers, 1, mel, 1), 2)], {
    perm: [0, 2, 1],
  })
  let state = graph.add('Add', [heard, layers.weight('encoder.embed_positions.weight')])
  let normed = layers.norm('encoder.layers.0.self_attn_layer_norm', state)
  for (let layer = 0; layer < size.encoderLayers; layer++) {
    const name = `encoder.layers.${layer}`
    const projections = ['q_proj', 'k_proj', 'v_proj'].map(part => `${name}.self_attn.${part}`)
    const [query = '', key = '', value = ''] = layers.split(layers.linear(normed, ...projections), 3, width)
    const mixed = graph.add('MatMul', [
      layers.attention(query, key, value),
      layers.matrix(`${name}.self_attn.out_proj`),
    ])
    const attended = layers.addAndNorm(state, mixed, `${name}.self_attn.out_proj`, `${name}.final_layer_norm`)
    const isLast = layer === size.encoderLayers - 1
    const next = isLast ? 'encoder.layer_norm' : `encoder.layers.${layer + 1}.self_attn_layer_norm`
    const fed = layers.feedForward(name, attended.normed)
    ;({ state, normed } = layers.addAndNorm(attended.state, fed, `${name}.fc2`, next))
  }
  crossAttention(layers, normed, size)
  return layers
}

function convolve(layers: FloatLayers, number: number, input: string, stride: number): string {
  const weights = ['weight', 'bias'].map(part => layers.weight(`encoder.conv${number}.${part}`))
  const shape = { kernel_shape: [3], pads: [1, 1], strides: [stride] }
  return layers.graph.add('com.microsoft.Gelu', [layers.graph.add('Conv', [input, ...weights], shape)])
}

function crossAttention(layers: FloatLayers, states: string, size: FloatSize): void {
  const { graph, type } = layers
  const { width, heads } = size
  const headSize = width / heads
  const aligned: string[] = []
  for (let layer = 0; layer < size.decoderLayers; layer++) {
    const name = `decoder.layers.${layer}.encoder_attn`
    const key = graph.add('MatMul', [states, layers.matrix(`${name}.k_proj`)])
    layers.output(`key.${layer}`, type, ['rows', 'frames', width], key)
    layers.output(`value.${layer}`, type, ['rows', 'frames', width], layers.linear(states, `${name}.v_proj`))
    const wanted = size.alignmentHeads.filter(([each]) => each === layer).map(([, head]) => head)
    if (wanted.length === 0) continue
    const byHead = graph.add('Reshape', [key, layers.integers(0, 0, heads, headSize)])
    const chosen = graph.add('Gather', [byHead, layers.integers(...wanted)], { axis: 2 })
    const scaled = graph.add('Mul', [chosen, layers.number(headSize ** -0.5)])
    aligned.push(graph.add('Transpose', [scaled], { perm: [0, 2, 3, 1] }))
  }
  if (aligned.length === 0) return
  const all = graph.add('Concat', aligned, { axis: 1 })
  layers.output('aligned', type, ['rows', size.alignmentHeads.length, headSize, 'frames'], all)
}
