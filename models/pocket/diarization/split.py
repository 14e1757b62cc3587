"""Divides the segmentation model in two: python split.py ../pyannote-segmentation-pocket

front.onnx is the bank of band filters. It converts sound to the energy of 40 bands, every 90 samples. body.onnx is the
remaining model. It converts the energy in one view (ten seconds) to the classes of the frames. Successive views overlap
by nine tenths, and the filters need half of the computing time. With the two files, steno filters each second of sound
about twice instead of ten times.
"""
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.utils import Extractor

ENERGY = "/Add_output_0"  # the name of the sum of the squares of both filters of a band
STEPS = 1772  # the number of energy values of each band in a view of ten seconds
FRAMES = 590  # twice the number of steps of the recurrent layers; the last frame is removed later
RECURRENT = "/second/Reshape_output_0"  # the name of the output of the recurrent layers: [frames / 2, batch, 128]
REPEATED = "/Reshape_output_0"  # the name of this output with each frame repeated: [batch, 128, frames]


def main(folder):
    whole = onnx.load(folder + "/onnx/model.onnx")
    extractor = Extractor(onnx.shape_inference.infer_shapes(whole))
    for name, inputs, outputs in (("front", ["input_values"], [ENERGY]), ("body", [ENERGY], ["logits"])):
        part = extractor.extract_model(inputs, outputs)
        if name == "body":
            repeat_in_time(part)
        rename(part, ENERGY, "energy")
        for value in list(part.graph.input) + list(part.graph.output):
            if value.name == "energy":
                for at, size in enumerate(("batch_size", 40, "steps" if name == "front" else STEPS)):
                    set_size(value.type.tensor_type.shape.dim[at], size)
        del part.graph.value_info[:]
        part.producer_name = "steno"
        onnx.checker.check_model(part)
        onnx.save(part, f"{folder}/onnx/{name}.onnx")
    check(folder + "/onnx/")


def repeat_in_time(model):
    """Repeats the frames before the transposition and not after it. So whole rows are copied, which is faster."""
    graph = model.graph
    at = next(i for i, node in enumerate(graph.node) if REPEATED in node.output)
    graph.initializer.extend([
        numpy_helper.from_array(np.array([1], np.int64), "repeat.axis"),
        numpy_helper.from_array(np.array([1, 2, 1, 1], np.int64), "repeat.times"),
        numpy_helper.from_array(np.array([FRAMES, -1, 128], np.int64), "repeat.shape"),
    ])
    nodes = [
        helper.make_node("Unsqueeze", [RECURRENT, "repeat.axis"], ["repeat.one"]),
        helper.make_node("Expand", ["repeat.one", "repeat.times"], ["repeat.two"]),
        helper.make_node("Reshape", ["repeat.two", "repeat.shape"], ["repeat.rows"]),
        helper.make_node("Transpose", ["repeat.rows"], [REPEATED], perm=[1, 2, 0]),
    ]
    del graph.node[at]
    for node in reversed(nodes):
        graph.node.insert(at, node)
    while unused := [node for node in graph.node if not is_used(graph, node)]:
        for node in unused:
            graph.node.remove(node)


def is_used(graph, node):
    wanted = {value.name for value in graph.output}.union(*(other.input for other in graph.node))
    return not wanted.isdisjoint(node.output)


def rename(model, old, new):
    for node in model.graph.node:
        node.input[:] = [new if name == old else name for name in node.input]
        node.output[:] = [new if name == old else name for name in node.output]
    for value in list(model.graph.input) + list(model.graph.output):
        value.name = new if value.name == old else value.name


def set_size(dim, size):
    if isinstance(size, str):
        dim.dim_param = size
    else:
        dim.dim_value = size


def check(folder):
    whole, front, body = (onnxruntime.InferenceSession(f"{folder}{name}.onnx") for name in ("model", "front", "body"))
    sound = np.random.RandomState(0).randn(1, 1, 160000 + 15930).astype(np.float32) * 0.1
    energy = front.run(None, {"input_values": sound})[0]
    for view in (0, 1):
        expected = whole.run(None, {"input_values": sound[:, :, view * 15930 : view * 15930 + 160000]})[0]
        got = body.run(None, {"energy": energy[:, :, view * 177 : view * 177 + 1772]})[0]
        print("view", view, "largest difference", np.abs(got - expected).max())


if __name__ == "__main__":
    main(*sys.argv[1:])
