"""Writes a Whisper model with random weights in the formats of other programs: python random-weights.py WIDTH LAYERS LIKE OUT

LIKE is the folder of a model in the layout of Hugging Face, whose tokenizer is copied. Writes the folder OUT/ct2 for
faster-whisper, and the file OUT/ggml.bin for whisper.cpp. The random numbers differ from those of random-model.ts.
This does not change the cost of the model.
"""
import base64
import os
import shutil
import struct
import sys

import numpy as np
import torch
import whisper
from ctranslate2.converters import TransformersConverter
from transformers import GenerationConfig, WhisperConfig, WhisperForConditionalGeneration

# Replacements that turn the name of a tensor in Hugging Face's layout into its name in whisper.cpp. In each pair, the
# second text replaces the first text.
RENAMED = [
    ("encoder.layer_norm", "encoder.ln_post"), ("decoder.layer_norm", "decoder.ln"),
    ("embed_positions.weight", "positional_embedding"), ("embed_tokens", "token_embedding"),
    ("layers", "blocks"), ("self_attn_layer_norm", "attn_ln"), ("encoder_attn_layer_norm", "cross_attn_ln"),
    ("final_layer_norm", "mlp_ln"), ("encoder_attn", "cross_attn"), ("self_attn", "attn"),
    ("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "out"), ("fc1", "mlp.0"), ("fc2", "mlp.2"),
]


def random_model(width, layers, like):
    heads = width // 64
    sizes = dict(encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=heads, decoder_attention_heads=heads)
    torch.manual_seed(1)
    config = WhisperConfig(d_model=width, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, init_std=0.05, **sizes)
    model = WhisperForConditionalGeneration(config)
    model.generation_config = GenerationConfig.from_pretrained(like)
    model.generation_config.alignment_heads = [[layers - 1, 0], [layers - 1, 1]]
    return model


def write_ggml(model, path):
    assets = os.path.join(whisper.__path__[0], "assets")
    filters = np.load(os.path.join(assets, "mel_filters.npz"))["mel_80"].astype(np.float32)
    with open(os.path.join(assets, "multilingual.tiktoken")) as lines:
        tokens = [base64.b64decode(line.split()[0]) for line in lines]
    c = model.config
    encoder = [1500, c.d_model, c.encoder_attention_heads, c.encoder_layers]
    decoder = [448, c.d_model, c.decoder_attention_heads, c.decoder_layers]
    with open(path, "wb") as out:
        def integers(*values):
            out.write(struct.pack(f"{len(values)}i", *values))
        integers(0x67676D6C, c.vocab_size, *encoder, *decoder, 80, 1)
        integers(*filters.shape)
        filters.tofile(out)
        integers(len(tokens))
        for token in tokens:
            integers(len(token))
            out.write(token)
        for name, tensor in model.model.state_dict().items():
            for before, after in RENAMED:
                name = name.replace(before, after)
            value = tensor.float().numpy()
            if name in ("encoder.conv1.bias", "encoder.conv2.bias"):
                value = value.reshape(-1, 1)
            is_half = value.ndim >= 2 and not name.endswith(".bias") and "positional" not in name
            integers(value.ndim, len(name), int(is_half), *value.shape[::-1])
            out.write(name.encode())
            np.ascontiguousarray(value.astype(np.float16 if is_half else np.float32)).tofile(out)


if __name__ == "__main__":
    width, layers, like, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    model = random_model(width, layers, like)
    source = os.path.join(folder, "source")
    model.save_pretrained(source)
    for name in ("tokenizer.json", "tokenizer_config.json", "preprocessor_config.json"):
        shutil.copy(os.path.join(like, name), source)
    converted = os.path.join(folder, "ct2")
    TransformersConverter(source, copy_files=["tokenizer.json"]).convert(converted, quantization="float16")
    write_ggml(model, os.path.join(folder, "ggml.bin"))
    shutil.rmtree(source)
