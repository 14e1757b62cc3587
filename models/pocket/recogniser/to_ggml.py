"""Converts a checkpoint to a model file of whisper.cpp: python to_ggml.py CHECKPOINT.pt OUT.bin

The file contains sizes, mel filters, the tokens as bytes, and then each tensor with its name in openai/whisper.
whisper.cpp treats a model with two decoder layers as distil-whisper, which has no timestamps. So the pocket model has
three decoder layers.
"""
import struct
import sys

import numpy as np
import torch

import tokens as T
from train import MEL, TOKENIZER


def main(checkpoint, path):
    saved = torch.load(checkpoint, map_location="cpu", weights_only=False)
    dims = saved["dims"]
    state = {k: v.float().numpy() for k, v in saved["model"].items() if not k.startswith(("phone.", "word."))}
    rows = np.full(T.VOCABULARY, len(saved["ids"]))
    rows[saved["ids"]] = np.arange(len(saved["ids"]))
    state["decoder.token_embedding.weight"] = state["decoder.token_embedding.weight"][rows]
    tokenizer = T.Tokenizer(TOKENIZER)
    with open(path, "wb") as out:
        ints = lambda *values: out.write(struct.pack(f"{len(values)}i", *values))
        heads = dims["d"] // 64
        ints(0x67676D6C, T.VOCABULARY, 1500, dims["d"], heads, dims["encoder_layers"], 448, dims["d"], heads,
             dims["decoder_layers"], 80, 1)
        filters = np.load(MEL)["mel_80"].astype(np.float32)
        ints(*filters.shape)
        filters.tofile(out)
        ints(T.EOT)
        for i in range(T.EOT):
            ints(len(tokenizer.bytes[i]))
            out.write(tokenizer.bytes[i])
        for name, value in state.items():
            if name in ("encoder.conv1.bias", "encoder.conv2.bias"):
                value = value.reshape(-1, 1)
            half = value.ndim >= 2 and not name.endswith(".bias") and "positional" not in name
            encoded = name.encode()
            ints(value.ndim, len(encoded), int(half), *value.shape[::-1])
            out.write(encoded)
            np.ascontiguousarray(value.astype(np.float16 if half else np.float32)).tofile(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
