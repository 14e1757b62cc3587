"""Exports a checkpoint in the layout of onnx-community/whisper-tiny_timestamped: python export.py CHECKPOINT.pt OUT

The script writes each node of the graphs itself. Three measures make the files small:
 - The embedding matrix has only about 2,000 rows. A map converts the 51,865 token ids to rows, and scores back to ids.
 - Matrices are stored in 16 bits, and the matrices of the feed-forward layers in 8 bits with a scale for each output.
   The runtime converts them to 32-bit floats once, when it loads the file. The `_quantized` files also multiply in
   8 bits.
 - The positions of the encoder are computed from sines and cosines, and not stored.
"""
import json
import math
import os
import shutil
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import tokens as T
from train import ALIGNMENT_HEADS, TOKENIZER

HEAD = 64
FLOAT = TensorProto.FLOAT


def rounded(name, weight):
    """Returns the stored form of a matrix [in, out]: 8-bit integers with a scale for each output, or 16-bit floats."""
    if ".mlp." in name:
        scale = np.maximum(np.abs(weight).max(0), 1e-8) / 127
        return np.clip(np.round(weight / scale), -127, 127).astype(np.int8), scale.astype(np.float32)
    return weight.astype(np.float16), None


class Graph:
    def __init__(self, state, dims, rows, quantized):
        self.state, self.dims, self.rows, self.quantized = state, dims, rows, quantized
        self.d, self.heads = dims["d"], dims["d"] // HEAD
        self.constants, self.shared, self.count = {}, {}, 0
        self.top = self.nodes = []  # `top`: the main graph. `nodes`: where nodes are added, also in a branch

    def op(self, kind, inputs, out=None, outputs=1, top=False, **attributes):
        self.count += 1
        names = [out] if out else [f"{kind}_{self.count}_{i}" for i in range(outputs)]
        node = helper.make_node(kind, inputs, names, name=f"{kind}_{self.count}", **attributes)
        (self.top if top else self.nodes).append(node)
        return names[0] if outputs == 1 else names

    def const(self, name, value):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def ints(self, *values):
        return self.const("ints_" + "_".join(map(str, values)).replace("-", "m"), np.array(values, np.int64))

    def number(self, value):
        return self.const(f"number_{value}", np.array(value, np.float32))

    def fold(self, name, small, scale=None):
        """Adds a constant that is stored in few bits, and converted to 32-bit floats once, when the file is loaded."""
        if name not in self.shared:
            x = self.op("Cast", [self.const(name + ".small", small)], top=True, to=FLOAT)
            if scale is not None:
                x = self.op("Mul", [x, self.const(name + ".scale", scale)], top=True)
            self.shared[name] = x
        return self.shared[name]

    def weight(self, name, value):
        return self.fold(name, *rounded(name, value))

    def bytes(self, name, value, axis):
        """Adds an unsigned 8-bit copy of a matrix, and its scales. On older CPUs, signed products could overflow."""
        scale = np.maximum(np.abs(value).max(axis, keepdims=True), 1e-8) / 127
        levels = (np.clip(np.round(value / scale), -127, 127) + 128).astype(np.uint8)
        return self.const(name + ".levels", levels), self.const(name + ".scales", scale.squeeze(axis).astype(np.float32))

    def byte_product(self, x, levels, scales):
        a, scale, zero = self.op("DynamicQuantizeLinear", [x], outputs=3)
        y = self.op("MatMulInteger", [a, levels, zero, self.const("zero_point", np.array(128, np.uint8))])
        return self.op("Mul", [self.op("Cast", [y], to=FLOAT), self.op("Mul", [scale, scales])])

    def linear(self, x, name):
        weight = self.state[name + ".weight"].T
        if self.quantized:
            y = self.byte_product(x, *self.bytes(name, weight, 0))
        else:
            y = self.op("MatMul", [x, self.weight(name, weight)])
        if name + ".bias" not in self.state:
            return y
        return self.op("Add", [y, self.const(name + ".bias", self.state[name + ".bias"])])

    def norm(self, x, name, out=None):
        gain, bias = (self.const(f"{name}.{k}", self.state[f"{name}.{k}"]) for k in ("weight", "bias"))
        return self.op("LayerNormalization", [x, gain, bias], out, axis=-1, epsilon=1e-5)

    def gelu(self, x):
        erf = self.op("Erf", [self.op("Mul", [x, self.number(math.sqrt(0.5))])])
        return self.op("Mul", [self.op("Mul", [x, self.op("Add", [erf, self.number(1)])]), self.number(0.5)])

    def split(self, x):
        return self.op("Transpose", [self.op("Reshape", [x, self.ints(0, -1, self.heads, HEAD)])], perm=[0, 2, 1, 3])

    def queries(self, x, name):
        return self.split(self.op("Mul", [self.linear(x, name + ".query"), self.number(HEAD ** -0.5)]))

    def attend(self, q, k, v, name, mask=None, weights=None):
        scores = self.op("MatMul", [q, self.op("Transpose", [k], perm=[0, 1, 3, 2])])
        if mask:
            scores = self.op("Add", [scores, mask])
        seen = self.op("Softmax", [scores], weights, axis=-1)
        mixed = self.op("Transpose", [self.op("MatMul", [seen, v])], perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", [mixed, self.ints(0, -1, self.d)]), name + ".out")

    def mlp(self, x, name):
        return self.linear(self.gelu(self.linear(self.norm(x, name + ".mlp_ln"), name + ".mlp.0")), name + ".mlp.2")

    def add(self, x, y):
        return self.op("Add", [x, y])

    def save(self, path, inputs, outputs):
        graph = helper.make_graph(self.top, "whisper-pocket", inputs, outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="steno")
        onnx.checker.check_model(model)
        onnx.save(model, path)
        print(os.path.basename(path), os.path.getsize(path))


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write_encoder(g, path):
    x = "input_features"
    for name, stride in (("conv1", 1), ("conv2", 2)):
        w = g.state[f"encoder.{name}.weight"]
        if g.quantized:
            scale = np.abs(w).max((1, 2), keepdims=True) / 127
            w = g.fold(name, np.round(w / scale).astype(np.int8), scale.astype(np.float32))
        else:
            w = g.fold(name, w.astype(np.float16))
        bias = g.const(name + ".bias", g.state[f"encoder.{name}.bias"])
        x = g.gelu(g.op("Conv", [x, w, bias], kernel_shape=[3], pads=[1, 1], strides=[stride]))
    rate = np.exp(-math.log(10000) / (g.d // 2 - 1) * np.arange(g.d // 2)).astype(np.float32)
    frame = g.const("frames", np.arange(1500, dtype=np.float32)[:, None])
    angle = g.op("Mul", [frame, g.const("rates", rate[None])], top=True)
    places = g.op("Concat", [g.op("Sin", [angle], top=True), g.op("Cos", [angle], top=True)], top=True, axis=1)
    x = g.add(g.op("Transpose", [x], perm=[0, 2, 1]), places)
    for i in range(g.dims["encoder_layers"]):
        name = f"encoder.blocks.{i}"
        h = g.norm(x, name + ".attn_ln")
        k, v = (g.split(g.linear(h, f"{name}.attn.{part}")) for part in ("key", "value"))
        x = g.add(x, g.attend(g.queries(h, name + ".attn"), k, v, name + ".attn"))
        x = g.add(x, g.mlp(x, name))
    g.norm(x, "encoder.ln_post", "last_hidden_state")
    g.save(path, [value("input_features", ["batch_size", 80, 3000])],
           [value("last_hidden_state", ["batch_size", 1500, g.d])])


def decoder_branch(g, cached, prefix):
    """Writes one branch of the decoder: with a cache of the keys and values of earlier tokens, or without a cache."""
    embedding = g.state["decoder.token_embedding.weight"]
    rows = g.shared["rows"]
    picked = g.op("Gather", [rows, "input_ids"])
    if g.quantized:
        levels, scales = g.bytes("embedding", embedding, 1)
        x = g.op("Sub", [g.op("Cast", [g.op("Gather", [levels, picked])], to=FLOAT), g.number(128)])
        x = g.op("Mul", [x, g.op("Unsqueeze", [g.op("Gather", [scales, picked]), g.ints(-1)])])
    else:
        x = g.op("Gather", [g.fold("embedding", embedding.astype(np.float16)), picked])
    count = g.op("Slice", [g.op("Shape", ["input_ids"]), g.ints(1), g.ints(2)])
    if cached:
        first = g.op("Slice", [g.op("Shape", ["past_key_values.0.decoder.key"]), g.ints(2), g.ints(3)])
        last = g.op("Add", [first, count])
    else:
        first, last = g.ints(0), count
    places = g.fold("places", g.state["decoder.positional_embedding"].astype(np.float16))
    x = g.add(x, g.op("Slice", [places, first, last, g.ints(0)]))
    scalar = lambda n: g.op("Squeeze", [n, g.ints(0)])
    zero, one = (g.const(f"scalar_{n}", np.array(n, np.int64)) for n in (0, 1))
    queries = g.op("Unsqueeze", [g.op("Range", [scalar(first), scalar(last), one]), g.ints(1)])
    keys = g.op("Unsqueeze", [g.op("Range", [zero, scalar(last), one]), g.ints(0)])
    mask = g.op("Mul", [g.op("Cast", [g.op("Greater", [keys, queries])], to=FLOAT), g.number(-1e9)])
    for i in range(g.dims["decoder_layers"]):
        name, past, present = f"decoder.blocks.{i}", f"past_key_values.{i}", f"{prefix}present.{i}"
        h = g.norm(x, name + ".attn_ln")
        own = {}
        for part in ("key", "value"):
            new = g.split(g.linear(h, f"{name}.attn.{part}"))
            own[part] = g.op("Concat", [f"{past}.decoder.{part}", new], f"{present}.decoder.{part}", axis=2) if cached \
                else g.op("Identity", [new], f"{present}.decoder.{part}")
        x = g.add(x, g.attend(g.queries(h, name + ".attn"), own["key"], own["value"], name + ".attn", mask))
        cross = name + ".cross_attn"
        h, sound = g.norm(x, name + ".cross_attn_ln"), {}
        for part in ("key", "value"):
            if cached:  # The caller already has these keys and values. So these outputs are empty, as in the published model.
                sound[part] = f"{past}.encoder.{part}"
                g.op("ConstantOfShape", [g.ints(0, g.heads, 1, HEAD)], f"{present}.encoder.{part}")
            else:
                sound[part] = g.op("Identity", [g.split(g.linear("encoder_hidden_states", f"{cross}.{part}"))],
                                   f"{present}.encoder.{part}")
        x = g.add(x, g.attend(g.queries(h, cross), sound["key"], sound["value"], cross,
                              weights=f"{prefix}cross_attentions.{i}"))
        x = g.add(x, g.mlp(x, name))
    x = g.norm(x, "decoder.ln")
    if g.quantized:
        y = g.byte_product(x, g.op("Transpose", [levels], perm=[1, 0]), scales)
    else:
        y = g.op("MatMul", [x, g.op("Transpose", [g.fold("embedding", None)], perm=[1, 0])])
    g.op("Gather", [y, rows], f"{prefix}logits", axis=-1)


def write_decoder(g, path):
    layers, heads = range(g.dims["decoder_layers"]), g.heads
    g.shared["rows"] = g.op("Cast", [g.const("row_of_token", g.rows.astype(np.int16))], top=True, to=TensorProto.INT32)

    def cache(prefix, own, sound):
        return [value(f"{prefix}.{i}.{side}.{part}", ["batch_size", heads, length, HEAD])
                for i in layers for side, length in (("decoder", own), ("encoder", sound)) for part in ("key", "value")]

    def outputs(prefix):
        total = "past_decoder_sequence_length + decoder_sequence_length"
        return ([value(prefix + "logits", ["batch_size", "decoder_sequence_length", T.VOCABULARY])]
                + cache(prefix + "present", total, "encoder_sequence_length_out")
                + [value(f"{prefix}cross_attentions.{i}", ["batch_size", heads, "decoder_sequence_length",
                                                            "encoder_sequence_length"]) for i in layers])

    branch = {}
    for cached, prefix in ((False, "first_"), (True, "later_")):
        g.nodes = []
        decoder_branch(g, cached, prefix)
        branch[cached] = helper.make_graph(g.nodes, prefix + "branch", [], outputs(prefix))
    final = outputs("")
    g.top.append(helper.make_node("If", ["use_cache_branch"], [o.name for o in final], name="cache_or_not",
                                  then_branch=branch[True], else_branch=branch[False]))
    g.save(path, [value("input_ids", ["batch_size", "decoder_sequence_length"], TensorProto.INT64),
                  value("encoder_hidden_states", ["batch_size", "encoder_sequence_length", g.d])]
           + cache("past_key_values", "past_decoder_sequence_length", "encoder_sequence_length")
           + [value("use_cache_branch", [1], TensorProto.BOOL)], final)


def write_configs(dims, ids, out):
    published = os.path.dirname(TOKENIZER)
    read = lambda name: json.load(open(os.path.join(published, name)))
    config, generation = read("config.json"), read("generation_config.json")
    heads, said = dims["d"] // HEAD, set(ids)
    sizes = dict(d_model=dims["d"], encoder_layers=dims["encoder_layers"], decoder_layers=dims["decoder_layers"],
                 num_hidden_layers=dims["encoder_layers"], encoder_attention_heads=heads, decoder_attention_heads=heads,
                 encoder_ffn_dim=4 * dims["d"], decoder_ffn_dim=4 * dims["d"])
    suppress = [t for t in config.get("suppress_tokens") or generation["suppress_tokens"] if t not in said or t >= T.EOT]
    config.update(sizes, _name_or_path="whisper-pocket", suppress_tokens=suppress, forced_decoder_ids=None)
    generation.update(alignment_heads=ALIGNMENT_HEADS, suppress_tokens=suppress, median_filter_width=7)
    generation.setdefault("lang_to_id", {})
    for name, what in (("config.json", config), ("generation_config.json", generation)):
        json.dump(what, open(os.path.join(out, name), "w"), indent=2)
        open(os.path.join(out, name), "a").write("\n")
    shutil.copyfile(os.path.join(published, "preprocessor_config.json"), os.path.join(out, "preprocessor_config.json"))
    shutil.copyfile(os.path.join(published, "tokenizer_config.json"), os.path.join(out, "tokenizer_config.json"))
    # without indentation, the file is a third smaller
    json.dump(read("tokenizer.json"), open(os.path.join(out, "tokenizer.json"), "w"), ensure_ascii=False, separators=(",", ":"))


def main(checkpoint, out):
    saved = torch.load(checkpoint, map_location="cpu", weights_only=False)
    state = {k: v.float().numpy() for k, v in saved["model"].items()}
    rows = np.full(T.VOCABULARY, len(saved["ids"]), np.int32)
    rows[saved["ids"]] = np.arange(len(saved["ids"]))
    os.makedirs(out + "/onnx", exist_ok=True)
    for quantized, suffix in ((False, ""), (True, "_quantized")):
        write_encoder(Graph(state, saved["dims"], rows, quantized), f"{out}/onnx/encoder_model{suffix}.onnx")
        write_decoder(Graph(state, saved["dims"], rows, quantized), f"{out}/onnx/decoder_model_merged{suffix}.onnx")
    write_configs(saved["dims"], saved["ids"], out)
    total = sum(os.path.getsize(os.path.join(folder, f)) for folder, _, files in os.walk(out) for f in files)
    print("all files", total)


if __name__ == "__main__":
    main(*sys.argv[1:])
