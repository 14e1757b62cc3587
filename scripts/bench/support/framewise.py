# Writes CTC and TDT models with random weights, in the file layouts of Omnilingual CTC and Parakeet TDT. Transcribes
# files with sherpa-onnx and onnx-asr.
#   framewise.py make FOLDER          writes FOLDER/ctc and FOLDER/tdt
#   framewise.py make-large FOLDER    the same, with the sizes of Omnilingual CTC 300M and Parakeet TDT 0.6b in 8 bits
#   framewise.py hear KIND FOLDER FILE…   prints one JSON object for each file: the tokens and their times
# This script needs the packages onnx, onnxruntime, onnx-asr, sherpa-onnx and soundfile.
import json
import os
import sys

import numpy as np

random = np.random.default_rng(3)


def values(*shape, scale):
    return (random.normal(size=shape) * scale).astype(np.float32)


def write(path, nodes, inputs, outputs, constants, metadata=None):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    kinds = {"f": TensorProto.FLOAT, "i": TensorProto.INT32, "l": TensorProto.INT64}
    port = lambda name, kind, shape: helper.make_tensor_value_info(name, kinds[kind], shape)
    graph = helper.make_graph(
        [helper.make_node(operation, given, made, **more) for operation, given, made, more in nodes],
        "random",
        [port(*each) for each in inputs],
        [port(*each) for each in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path)


def transformer(given, made, width, layers):
    """Returns the nodes and the constants of transformer layers. All layers share their weights, which keeps the file
    small. The input and the output are N × frames × width."""
    constants = {f"t.{part}": values(width, width, scale=width**-0.5) for part in ("q", "k", "v", "o")}
    constants |= {"t.up": values(width, 4 * width, scale=width**-0.5)}
    constants |= {"t.down": values(4 * width, width, scale=(4 * width) ** -0.5)}
    constants |= {"t.ones": np.ones(width, np.float32), "t.zeros": np.zeros(width, np.float32)}
    constants |= {"t.wide": np.zeros(4 * width, np.float32)}
    constants |= {"t.split": np.array([0, 0, width // 64, 64]), "t.join": np.array([0, 0, width]), "t.eight": np.float32(8)}
    constants |= GELU
    nodes, x = [], given
    for layer in range(layers):
        named = lambda part: f"t{layer}.{part}"

        def add(operation, inputs, part, **more):
            nodes.append((operation, inputs, [named(part)], more))
            return named(part)

        def linear(inputs, part, bias="t.zeros"):
            return add("Add", [add("MatMul", [inputs, f"t.{part}"], f"{part}.product"), bias], f"{part}.sum")

        def split(part, turned):
            return add("Transpose", [add("Reshape", [linear(even, part), "t.split"], f"{part}.split")], part, perm=turned)

        even = add("LayerNormalization", [x, "t.ones", "t.zeros"], "even", axis=-1)
        q, k, v = split("q", [0, 2, 1, 3]), split("k", [0, 2, 3, 1]), split("v", [0, 2, 1, 3])
        likeness = add("Div", [add("MatMul", [q, k], "product"), "t.eight"], "likeness")
        mixed = add("MatMul", [add("Softmax", [likeness], "shares", axis=-1), v], "mixed")
        joined = add("Reshape", [add("Transpose", [mixed], "turned", perm=[0, 2, 1, 3]), "t.join"], "joined")
        x = add("Add", [x, linear(joined, "o")], "heard")
        even = add("LayerNormalization", [x, "t.ones", "t.zeros"], "even2", axis=-1)
        made_wide = named("gelu")
        nodes += gelu(linear(even, "up", "t.wide"), made_wide)
        x = add("Add", [x, linear(made_wide, "down")], "out")
    nodes.append(("Identity", [x], [made], {}))
    return nodes, constants


GELU = {"gelu.root": np.float32(2**0.5), "gelu.one": np.float32(1), "gelu.half": np.float32(0.5)}


def gelu(given, made):
    """Returns the nodes that PyTorch writes for GELU."""
    part = lambda name: f"{made}.{name}"
    return [
        ("Div", [given, "gelu.root"], [part("scaled")], {}),
        ("Erf", [part("scaled")], [part("erf")], {}),
        ("Add", [part("erf"), "gelu.one"], [part("share")], {}),
        ("Mul", [given, part("share")], [part("double")], {}),
        ("Mul", [part("double"), "gelu.half"], [made], {}),
    ]


def wav2vec_front(given, made, width, channels=512):
    """Returns the layers of wav2vec 2.0 before the transformer: seven convolutions with layer norms, a projection to
    `width`, and a convolution over 128 frames that encodes the positions."""
    constants = {"f.ones": np.ones(channels, np.float32), "f.zeros": np.zeros(channels, np.float32)}
    nodes, x, before = [], given, 1
    for layer, (kernel, stride) in enumerate([(10, 5), *[(3, 2)] * 4, *[(2, 2)] * 2]):
        named = lambda part: f"f{layer}.{part}"
        constants[named("w")] = values(channels, before, kernel, scale=(before * kernel) ** -0.5)
        nodes += [
            ("Conv", [x, named("w"), "f.zeros"], [named("heard")], {"strides": [stride]}),
            ("Transpose", [named("heard")], [named("rows")], {"perm": [0, 2, 1]}),
            ("LayerNormalization", [named("rows"), "f.ones", "f.zeros"], [named("even")], {"axis": -1}),
            ("Transpose", [named("even")], [named("turned")], {"perm": [0, 2, 1]}),
            *gelu(named("turned"), named("out")),
        ]
        x, before = named("out"), channels
    constants |= {
        "f.project": values(channels, width, scale=channels**-0.5),
        "f.bias": np.zeros(width, np.float32),
        "f.places": values(width, width // 16, 128, scale=(width * 8) ** -0.5),
    }
    nodes += [
        ("Transpose", [x], ["f.frames"], {"perm": [0, 2, 1]}),
        ("LayerNormalization", ["f.frames", "f.ones", "f.zeros"], ["f.even"], {"axis": -1}),
        ("MatMul", ["f.even", "f.project"], ["f.product"], {}),
        ("Add", ["f.product", "f.bias"], ["f.rows"], {}),
        ("Transpose", ["f.rows"], ["f.columns"], {"perm": [0, 2, 1]}),
        ("Conv", ["f.columns", "f.places", "f.bias"], ["f.around"], {"group": 16, "pads": [64, 63]}),
        *gelu("f.around", "f.active"),
        ("Transpose", ["f.active"], ["f.shift"], {"perm": [0, 2, 1]}),
        ("Add", ["f.rows", "f.shift"], [made], {}),
    ]
    return nodes, constants


def in_8_bits(kind, path):
    """Converts a model to 8 bits in the same way as the 8-bit models Omnilingual CTC and Parakeet TDT."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    if kind == "ctc":
        quantize_dynamic(path, path, op_types_to_quantize=["MatMul"], weight_type=QuantType.QUInt8)
    else:
        quantize_dynamic(path, path, weight_type=QuantType.QInt8)


def small_front(given, made, width):
    constants = {"w1": values(width, 1, 400, scale=0.15), "w2": values(width, width, 3, scale=0.12)}
    nodes = [
        ("Conv", [given, "w1"], ["c1"], {"strides": [320], "pads": [40, 40]}),
        ("Tanh", ["c1"], ["t1"], {}),
        ("Conv", ["t1", "w2"], ["c2"], {"pads": [1, 1]}),
        ("Tanh", ["c2"], ["t2"], {}),
        ("Transpose", ["t2"], [made], {"perm": [0, 2, 1]}),
    ]
    return nodes, constants


def make_ctc(folder, width=96, tokens=600, layers=0):
    blank = np.zeros(tokens, np.float32)
    blank[0] = 7
    front, own = (wav2vec_front if layers > 0 else small_front)("sound", "frames", width)
    deep, shared = transformer("frames", "deep", width, layers)
    nodes = [
        ("Unsqueeze", ["x", "one"], ["sound"], {}),
        *front,
        *deep,
        ("MatMul", ["deep", "w3"], ["scores"], {}),
        ("Add", ["scores", "blank"], ["logits"], {}),
    ]
    constants = {
        "one": np.array([1], np.int64),
        **own,
        "w3": values(width, tokens, scale=0.5),
        "blank": blank,
        **shared,
    }
    ports = [("x", "f", ["N", "samples"])], [("logits", "f", ["N", "frames", tokens])]
    metadata = {"model_type": "omnilingual-asr", "version": "1", "model_author": "random"}
    write(f"{folder}/model.int8.onnx", nodes, *ports, constants, metadata)
    letters = [chr(97 + each) if each < 26 else chr(0x4E00 + each) for each in range(tokens - 5)]
    lines = [f"{token} {number}\n" for number, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", "", *letters])]
    open(f"{folder}/tokens.txt", "w").write("".join(lines))


def make_tdt(folder, width=64, hidden=32, tokens=300, layers=2, depth=0):
    deep, shared = transformer("frames", "deep", width, depth)
    encoder = [
        ("Conv", ["audio_signal", "w"], ["c"], {"strides": [8], "pads": [0, 7]}),
        ("Tanh", ["c"], ["t"], {}),
        ("Transpose", ["t"], ["frames"], {"perm": [0, 2, 1]}),
        *deep,
        ("Transpose", ["deep"], ["outputs"], {"perm": [0, 2, 1]}),
        ("Sub", ["length", "one"], ["before"], {}),
        ("Div", ["before", "eight"], ["whole"], {}),
        ("Add", ["whole", "one"], ["encoded_lengths"], {}),
    ]
    write(
        f"{folder}/encoder-model.int8.onnx",
        encoder,
        [("audio_signal", "f", ["N", 128, "T"]), ("length", "l", ["N"])],
        [("outputs", "f", ["N", width, "T8"]), ("encoded_lengths", "l", ["N"])],
        {"w": values(width, 128, 8, scale=0.06), "one": np.array([1]), "eight": np.array([8]), **shared},
    )
    blank = np.zeros(tokens + 6, np.float32)
    blank[tokens] = 6
    constants = {
        "tokens": values(tokens + 1, hidden, scale=1),
        "wf": values(width, tokens + 6, scale=0.5),
        "wp": values(hidden, tokens + 6, scale=0.8),
        "blank": blank,
        "axis1": np.array([1]),
        "axis2": np.array([2]),
    }
    decoder = [("Transpose", ["targets"], ["turned"], {"perm": [1, 0]}), ("Gather", ["tokens", "turned"], ["x0"], {})]
    for layer in range(layers):
        constants |= {f"from{layer}": np.array([layer]), f"to{layer}": np.array([layer + 1])}
        constants |= {f"{part}{layer}": values(1, 4 * hidden, hidden, scale=0.4) for part in "WR"}
        for state in "12":
            given = [f"input_states_{state}", f"from{layer}", f"to{layer}"]
            decoder.append(("Slice", given, [f"state{state}{layer}"], {}))
        given = [f"x{layer}", f"W{layer}", f"R{layer}", "", "", f"state1{layer}", f"state2{layer}"]
        made = [f"y{layer}", f"after1{layer}", f"after2{layer}"]
        decoder.append(("LSTM", given, made, {"hidden_size": hidden}))
        decoder.append(("Squeeze", [f"y{layer}", "axis1"], [f"x{layer + 1}"], {}))
    for state in "12":
        parts = [f"after{state}{layer}" for layer in range(layers)]
        decoder.append(("Concat", parts, [f"output_states_{state}"], {"axis": 0}))
    decoder += [
        ("Transpose", [f"x{layers}"], ["predicted"], {"perm": [1, 0, 2]}),
        ("Transpose", ["encoder_outputs"], ["heard"], {"perm": [0, 2, 1]}),
        ("MatMul", ["heard", "wf"], ["a"], {}),
        ("MatMul", ["predicted", "wp"], ["b"], {}),
        ("Unsqueeze", ["a", "axis2"], ["a4"], {}),
        ("Unsqueeze", ["b", "axis1"], ["b4"], {}),
        ("Add", ["a4", "b4"], ["joined"], {}),
        ("Add", ["joined", "blank"], ["outputs"], {}),
    ]
    state = lambda name: (name, "f", [layers, "N", hidden])
    write(
        f"{folder}/decoder_joint-model.int8.onnx",
        decoder,
        [("encoder_outputs", "f", ["N", width, "T"]), ("targets", "i", ["N", "U"]), ("target_length", "i", ["N"])]
        + [state("input_states_1"), state("input_states_2")],
        [("outputs", "f", ["N", "T", "U", tokens + 6]), state("output_states_1"), state("output_states_2")],
        constants,
    )
    make_features(f"{folder}/nemo128.onnx")
    letters = lambda number: "".join(chr(97 + int(each)) for each in random.integers(0, 26, size=1 + number % 4))
    lines = [f"{'▁' if number % 3 == 0 else ''}{letters(number)}{number} {number}\n" for number in range(tokens)]
    open(f"{folder}/vocab.txt", "w").write("".join(lines) + f"<blk> {tokens}\n")
    config = {"model_type": "nemo-conformer-tdt", "features_size": 128, "subsampling_factor": 8}
    open(f"{folder}/config.json", "w").write(json.dumps(config))


def make_features(path):
    """Builds a graph that computes the features of NeMo, with the mel filters of onnx-asr."""
    import onnx_asr

    filters = np.load(f"{os.path.dirname(onnx_asr.__file__)}/preprocessors/data/fbanks.npz")["nemo128"]
    window = np.pad(np.hanning(400), (56, 56))
    angles = 2 * np.pi * np.arange(257)[:, None] * np.arange(512) / 512
    wave = lambda function: (function(angles) * window).astype(np.float32)[:, None, :]
    nodes = [
        ("Unsqueeze", ["waveforms", "axis1"], ["sound"], {}),
        ("Conv", ["sound", "emphasis"], ["sharp"], {"pads": [1, 0]}),
        ("Pad", ["sharp", "pads"], ["padded"], {}),
        ("Conv", ["padded", "cosines"], ["real"], {"strides": [160]}),
        ("Conv", ["padded", "sines"], ["imaginary"], {"strides": [160]}),
        ("Mul", ["real", "real"], ["real2"], {}),
        ("Mul", ["imaginary", "imaginary"], ["imaginary2"], {}),
        ("Add", ["real2", "imaginary2"], ["power"], {}),
        ("Transpose", ["power"], ["bins"], {"perm": [0, 2, 1]}),
        ("MatMul", ["bins", "filters"], ["mel"], {}),
        ("Add", ["mel", "guard"], ["guarded"], {}),
        ("Log", ["guarded"], ["log"], {}),
        ("Div", ["waveforms_lens", "hop"], ["features_lens"], {}),
        ("Shape", ["log"], ["shape"], {}),
        ("Gather", ["shape", "second"], ["frames"], {}),
        ("Range", ["zero", "frames", "step"], ["numbers"], {}),
        ("Unsqueeze", ["features_lens", "axis1"], ["ends"], {}),
        ("Less", ["numbers", "ends"], ["valid"], {}),
        ("Cast", ["valid"], ["mask"], {"to": 1}),
        ("Unsqueeze", ["mask", "axis2"], ["mask3"], {}),
        ("Cast", ["features_lens"], ["lengths"], {"to": 1}),
        ("Unsqueeze", ["lengths", "axes12"], ["count"], {}),
        ("Mul", ["log", "mask3"], ["masked"], {}),
        ("ReduceSum", ["masked", "axis1"], ["sum"], {"keepdims": 1}),
        ("Div", ["sum", "count"], ["mean"], {}),
        ("Sub", ["log", "mean"], ["distance"], {}),
        ("Mul", ["distance", "mask3"], ["inside"], {}),
        ("Mul", ["inside", "inside"], ["squares"], {}),
        ("ReduceSum", ["squares", "axis1"], ["total"], {"keepdims": 1}),
        ("Sub", ["count", "onef"], ["fewer"], {}),
        ("Div", ["total", "fewer"], ["variance"], {}),
        ("Sqrt", ["variance"], ["deviation"], {}),
        ("Add", ["deviation", "epsilon"], ["scale"], {}),
        ("Div", ["inside", "scale"], ["scaled"], {}),
        ("Transpose", ["scaled"], ["features"], {"perm": [0, 2, 1]}),
    ]
    constants = {
        "axis1": np.array([1]),
        "axis2": np.array([2]),
        "axes12": np.array([1, 2]),
        "emphasis": np.array([[[-0.97, 1]]], np.float32),
        "pads": np.array([0, 0, 256, 0, 0, 256]),
        "cosines": wave(np.cos),
        "sines": wave(lambda angle: -np.sin(angle)),
        "filters": filters.astype(np.float32),
        "guard": np.float32(2**-24),
        "hop": np.array([160]),
        "second": np.int64(1),
        "zero": np.int64(0),
        "step": np.int64(1),
        "onef": np.float32(1),
        "epsilon": np.float32(1e-5),
    }
    ports = [("waveforms", "f", ["N", "S"]), ("waveforms_lens", "l", ["N"])]
    write(path, nodes, ports, [("features", "f", ["N", 128, "T"]), ("features_lens", "l", ["N"])], constants)


def hear(kind, folder, files):
    import soundfile

    if kind == "ctc":
        import sherpa_onnx

        tokens = f"{folder}/tokens.txt"
        model = sherpa_onnx.OfflineRecognizer.from_omnilingual_asr_ctc(
            model=f"{folder}/model.int8.onnx", tokens=tokens, num_threads=1
        )
    else:
        import onnx_asr
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        own = {"quantization": "int8", "providers": ["CPUExecutionProvider"], "sess_options": options}
        model = onnx_asr.load_model("nemo-conformer-tdt", folder, **own)
        model = model.with_timestamps()
    for file in files:
        sound, rate = soundfile.read(file, dtype="float32")
        sound = sound[: 30 * rate]
        if kind == "ctc":
            stream = model.create_stream()
            stream.accept_waveform(rate, sound)
            model.decode_stream(stream)
            tokens, times = stream.result.tokens, stream.result.timestamps
        else:
            result = model.recognize(sound, sample_rate=rate)
            tokens, times = result.tokens, result.timestamps
        print(json.dumps({"tokens": list(tokens), "times": [float(each) for each in times]}))


# The sizes of Omnilingual CTC 300M and Parakeet TDT 0.6b. Parakeet has 24 conformer layers. The model that `make_tdt`
# makes has `depth` transformer layers instead. A conformer layer has twice as many weights as a transformer layer, so
# `depth` is 48.
LARGE = {
    "ctc": dict(width=1024, tokens=10288, layers=24),
    "tdt": dict(width=1024, hidden=640, tokens=8192, depth=48),
}

if sys.argv[1] in ("make", "make-large"):
    for kind, maker in (("ctc", make_ctc), ("tdt", make_tdt)):
        folder = f"{sys.argv[2]}/{kind}"
        os.makedirs(folder, exist_ok=True)
        maker(folder, **(LARGE[kind] if sys.argv[1] == "make-large" else {}))
        if sys.argv[1] == "make-large":
            for name in os.listdir(folder):
                if name.endswith(".int8.onnx"):
                    in_8_bits(kind, f"{folder}/{name}")
else:
    hear(sys.argv[2], sys.argv[3], sys.argv[4:])
