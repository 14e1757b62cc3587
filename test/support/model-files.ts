// Returns the files of a model in the layout of Hugging Face. The weights are fake.

export function modelFiles(variant: string): Record<string, Uint8Array> {
  const heads = { encoder_attention_heads: 1, decoder_attention_heads: 1 }
  const json = (content: object) => new TextEncoder().encode(JSON.stringify(content))
  return {
    'config.json': json({ model_type: 'whisper', d_model: 64, ...heads }),
    'generation_config.json': json({}),
    'tokenizer.json': json({ model: { vocab: {} } }),
    [`onnx/encoder_model${variant}.onnx`]: new Uint8Array(3000),
    [`onnx/decoder_model_merged${variant}.onnx`]: new Uint8Array(5000),
  }
}
