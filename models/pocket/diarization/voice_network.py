"""Writes the counter and the frame embedder as one ONNX file: python voice_network.py COUNTER.pt EMBEDDER.pt OUT.onnx"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn as nn

from counter import Counter
from export import halve
from frame_embedder import FrameEmbedder
from voice_training import WIDTH


class VoiceNetwork(nn.Module):
    def __init__(self, counter, embedder):
        super().__init__()
        self.counter, self.embedder = counter, embedder

    def forward(self, states):
        return self.counter(states).exp(), self.embedder(states)


def main(counter, embedder, out):
    counter, embedder = torch.load(counter), torch.load(embedder)
    net = VoiceNetwork(Counter(), FrameEmbedder(len(embedder["known"]))).eval()
    net.counter.load_state_dict(counter)
    net.embedder.load_state_dict(embedder)
    states = [torch.randn(1, frames, WIDTH) * net.counter.deviation + net.counter.mean for frames in (401, 1, 1500)]
    with torch.no_grad():
        expected = [net(x) for x in states]
    net.counter.fold()
    net.embedder.fold()
    axes = {name: {0: "rows", 1: name + "_frames"} for name in ("frames", "voices", "embeddings")}
    torch.onnx.export(net, (states[0],), out, input_names=["frames"], output_names=["voices", "embeddings"],
                      dynamic_axes=axes, opset_version=17, dynamo=False)
    model = onnx.load(out)
    halve(model)
    model.producer_name = "steno"
    onnx.checker.check_model(model)
    onnx.save(model, out)
    session = onnxruntime.InferenceSession(out)
    for x, right in zip(states, expected):
        got = session.run(None, dict(frames=x.numpy()))
        print([a.shape for a in got], "largest difference", [np.abs(a - b.numpy()).max() for a, b in zip(got, right)])
    print(os.path.getsize(out), "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
