"""Quantises the convolutions of body.onnx to 8 bits: python quantise.py POOL.pkl ../pyannote-segmentation-pocket

Run it after split.py, which writes body.onnx with floats. The convolutions then need a fifth of the time. Their scales
are fixed, from mixtures of the training voices. So a result does not depend on the other views of its batch.

The weights have 7 bits. Without VNNI instructions, an x86 CPU adds two products of 8 bits in 16 bits: with weights of
8 bits, such a sum could overflow.
"""
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from export import halve
from mixtures import Mixtures

VIEWS, BATCH = 96, 8


class Energy(CalibrationDataReader):
    """The inputs of the body for mixtures of the training voices."""

    def __init__(self, views):
        self.batches = iter(np.split(views, VIEWS // BATCH))

    def get_next(self):
        energy = next(self.batches, None)
        return None if energy is None else {"energy": energy}


def energy(pool, front):
    mixtures, filters = Mixtures(pool, "train", 3), onnxruntime.InferenceSession(front)
    sounds = [mixtures.mixture()[0][None, None].astype(np.float32) for _ in range(VIEWS)]
    return np.concatenate([filters.run(None, {"input_values": sound})[0] for sound in sounds])


def with_floats(model):
    """Replaces the weights of 16 bits, and the Cast operations that read them, by weights of 32 bits."""
    graph = model.graph
    halves = {tensor.name: tensor for tensor in graph.initializer if tensor.name.endswith(".half")}
    for node in [node for node in graph.node if node.input and node.input[0] in halves]:
        half = halves[node.input[0]]
        value = numpy_helper.to_array(half).astype(np.float32)
        graph.initializer.append(numpy_helper.from_array(value, node.output[0]))
        graph.initializer.remove(half)
        graph.node.remove(node)
    return model


def main(pool, folder):
    path = f"{folder}/onnx/body.onnx"
    views = energy(pool, f"{folder}/onnx/front.onnx")
    expected = answers(path, views)
    floats = with_floats(onnx.load(path))
    # The last convolution is small, and the classes depend on it directly. So it stays in 32 bits.
    names = [node.name for node in floats.graph.node if node.op_type == "Conv" and "classes" not in node.name]
    with tempfile.TemporaryDirectory() as temporary:
        source = os.path.join(temporary, "floats.onnx")
        onnx.save(floats, source)
        quantize_static(source, path, Energy(views), quant_format=QuantFormat.QOperator, nodes_to_quantize=names,
                        op_types_to_quantize=["Conv"], per_channel=True, reduce_range=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    model = onnx.load(path)
    halve(model)
    del model.graph.value_info[:]
    model.producer_name = "steno"
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print("frames with the same class", (answers(path, views) == expected).mean())
    print(os.path.getsize(path), "bytes")


def answers(path, views):
    session = onnxruntime.InferenceSession(path)
    return np.concatenate([session.run(None, {"energy": batch})[0].argmax(2) for batch in np.split(views, VIEWS // BATCH)])


if __name__ == "__main__":
    main(*sys.argv[1:])
