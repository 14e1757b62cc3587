"""Writes the two diarization models as ONNX files: python export.py SEGMENTATION.pt EMBEDDING.pt OUT

OUT/pyannote-segmentation-pocket has the layout of onnx-community/pyannote-segmentation-3.0. OUT/wespeaker-pocket has
the layout of the WeSpeaker ResNet34-LM export. Large matrices are stored in 16 bits. A Cast operation makes 32 bits of
them, once, when the runtime loads the file.
"""
import json
import os
import sys

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from embedding import Embedding, Network
from segmentation import Segmentation


def halve(model, smallest=20000):
    graph = model.graph
    for tensor in list(graph.initializer):
        value = numpy_helper.to_array(tensor)
        if value.dtype == np.float32 and value.size >= smallest:
            graph.initializer.remove(tensor)
            graph.initializer.append(numpy_helper.from_array(value.astype(np.float16), tensor.name + ".half"))
            graph.node.insert(0, helper.make_node("Cast", [tensor.name + ".half"], [tensor.name], to=TensorProto.FLOAT))


def write(net, example, name_in, name_out, axes, path, checks):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch.onnx.export(net, (example,), path, input_names=[name_in], output_names=[name_out], dynamic_axes=axes,
                      opset_version=17, dynamo=False)
    model = onnx.load(path)
    halve(model)
    model.producer_name = "steno"
    onnx.checker.check_model(model)
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    for x in checks:
        with torch.no_grad():
            expected = net(x).numpy()
        got = session.run(None, {name_in: x.numpy()})[0]
        assert got.shape == expected.shape, (got.shape, expected.shape)
        print(os.path.basename(os.path.dirname(os.path.dirname(path))), list(x.shape), "->", list(got.shape),
              "largest difference", np.abs(got - expected).max())
    print(os.path.getsize(path), "bytes")


# A number that is added to the model's score for silence (the class NO_SPEAKER). The scores are natural logarithms. The
# segmentation model was trained on speech with noise and echo. On clean conversations without this correction, the
# model missed twenty times as much speech as it invented. With the correction, both errors are equal.
SILENCE_BIAS = -1.5


def load_segmentation(path):
    state = torch.load(path, map_location="cpu")
    net = Segmentation(speakers=len(state["known"]))
    net.load_state_dict(state)
    with torch.no_grad():
        net.classes.bias[0] += SILENCE_BIAS
    return net.eval()


def load_embedding(path):
    saved = torch.load(path, weights_only=False)
    network = Network()
    network.load_state_dict(saved["network"])
    return Embedding(saved["linear"], network, saved["speakers"]).eval()


def settings(folder, name, what):
    json.dump(what, open(os.path.join(folder, name), "w"), indent=2)
    open(os.path.join(folder, name), "a").write("\n")


def main(segmentation, embedding, out):
    torch.manual_seed(0)
    folder = out + "/pyannote-segmentation-pocket"
    write(load_segmentation(segmentation), torch.randn(2, 1, 160000) * 0.1, "input_values", "logits",
          {"input_values": {0: "batch_size", 2: "num_samples"}, "logits": {0: "batch_size", 1: "num_frames"}},
          folder + "/onnx/model.onnx", [torch.randn(3, 1, 160000) * 0.1, torch.randn(1, 1, 71234) * 0.1])
    settings(folder, "config.json", dict(
        model_type="pyannote", architectures=["PyAnnoteForAudioFrameClassification"], num_labels=7,
        id2label={0: "NO_SPEAKER", 1: "SPEAKER_1", 2: "SPEAKER_2", 3: "SPEAKER_3", 4: "SPEAKERS_1_AND_2",
                  5: "SPEAKERS_1_AND_3", 6: "SPEAKERS_2_AND_3"},
        label2id={"NO_SPEAKER": 0, "SPEAKER_1": 1, "SPEAKER_2": 2, "SPEAKER_3": 3, "SPEAKERS_1_AND_2": 4,
                  "SPEAKERS_1_AND_3": 5, "SPEAKERS_2_AND_3": 6}))
    settings(folder, "preprocessor_config.json", dict(
        feature_extractor_type="PyAnnoteFeatureExtractor", processor_class="PyAnnoteProcessor", feature_size=1,
        offset=721, step=270, sampling_rate=16000, padding_value=0.0, return_attention_mask=False))
    write(load_embedding(embedding), torch.randn(2, 200, 80), "input_features", "embs",
          {"input_features": {0: "batch_size", 1: "num_frames"}, "embs": {0: "batch_size"}},
          out + "/wespeaker-pocket/onnx/model.onnx", [torch.randn(3, 300, 80), torch.randn(1, 57, 80)])


if __name__ == "__main__":
    main(*sys.argv[1:])
