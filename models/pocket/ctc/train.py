"""Trains the pocket CTC model, and writes it in the layout of sherpa-onnx's Omnilingual ASR:
    python train.py STEPS ../ctc-pocket [BEFORE]        (needs espeak-ng, and the packages of ../requirements.txt)

The model reads samples with a mean of 0 and a variance of 1, and gives the scores of all characters for each 20 ms. It
knows two kinds of sentences with 30 words, said by one espeak-ng voice. Training takes about a minute of CPU time.
BEFORE is the folder of a model from an earlier run. The training then continues with this model.
"""
import os
import random
import subprocess
import sys
from difflib import SequenceMatcher

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../recogniser"))
from sentences import sentence

RATE = 16000
TEMPLATES = [
    "The code of {name} is {digit} {digit} {digit}",
    "{name} and {name} had {digit} and {digit}",
]
CONTROLS = ["<s>", "<pad>", "</s>", "<unk>"]  # <s> is the blank token of CTC
CHARACTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
TOKENS = CONTROLS + list(CHARACTERS)
BATCH = 8
BANDS, WINDOW, HOP = 48, 400, 160
WIDTH, KERNEL, DILATIONS = 96, 5, (1, 2, 4, 1)


def say(text):
    command = ["espeak-ng", "-v", "en-us", "-s", "165", "--stdout", text]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    samples = np.frombuffer(wav[44:], np.int16).astype(np.float32) / 32768
    times = np.arange(int(len(samples) * RATE / 22050)) * 22050 / RATE
    return np.interp(times, np.arange(len(samples)), samples).astype(np.float32)


def filters():
    """Returns two filters for each band: a cosine and a sine of the frequency of this band, in a Hann window."""
    mel = np.linspace(0, 2595 * np.log10(1 + 5200 / 700), BANDS + 2)[1:-1]
    angles = 2 * np.pi * (700 * (10 ** (mel / 2595) - 1))[:, None] * np.arange(WINDOW) / RATE
    window = np.hanning(WINDOW) / np.hanning(WINDOW).sum()
    return [(wave(angles) * window).astype(np.float32)[:, None, :] for wave in (np.cos, np.sin)]


class Features(nn.Module):
    """Computes the logarithm of the power in each band, every 10 ms."""

    def __init__(self):
        super().__init__()
        for name, wave in zip(("cosines", "sines"), filters()):
            self.register_buffer(name, torch.from_numpy(wave))

    def forward(self, samples):
        real, imaginary = [nn.functional.conv1d(samples[:, None], wave, stride=HOP, padding=WINDOW // 2 - HOP // 2)
                           for wave in (self.cosines, self.sines)]
        return torch.log(real**2 + imaginary**2 + 1e-4)


class Network(nn.Module):
    """Returns one score for each token and each 20 ms of sound."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(BANDS, WIDTH, KERNEL, stride=2, padding=KERNEL // 2)
        self.layers = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, KERNEL, dilation=d, padding=d * (KERNEL // 2)) for d in DILATIONS
        )
        self.scores = nn.Conv1d(WIDTH, len(TOKENS), 1)

    def forward(self, features):
        x = torch.relu(self.first(features / 4))
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return self.scores(x)


def normalised(samples):
    return (samples - samples.mean()) / np.sqrt(samples.var() + 1e-5)


def noisy(samples, pick):
    """Adds silence at both ends, and white noise 20 to 60 dB below the speech."""
    padded = np.pad(samples, (pick.randint(3200, 9600), pick.randint(3200, 9600)))
    level = samples.std() * 10 ** (-pick.uniform(20, 60) / 20)
    return padded + np.random.default_rng(pick.randint(0, 2**31)).normal(0, level, len(padded)).astype(np.float32)


def shelf(count, seed, held):
    pick = random.Random(seed)
    rows, front = [], Features()
    for _ in range(count):
        text = sentence("en", pick, held, pick.choice(TEMPLATES))
        samples = normalised(noisy(say(text), pick)).astype(np.float32)
        with torch.no_grad():
            features = front(torch.from_numpy(samples)[None])[0]
        rows.append((features.half(), [TOKENS.index(each) for each in text]))
    return rows


def batch(rows):
    lengths = torch.tensor([row[0].shape[1] for row in rows])
    features = torch.full((len(rows), BANDS, int(lengths.max())), float(np.log(1e-4)))
    for index, (own, _) in enumerate(rows):
        features[index, :, : own.shape[1]] = own.float()
    targets = torch.tensor([token for _, text in rows for token in text])
    return features, (lengths + 1) // 2, targets, torch.tensor([len(text) for _, text in rows])


def spoken(scores):
    best = scores.argmax(0).tolist()
    return "".join(TOKENS[now] for now, before in zip(best, [0, *best]) if now != before and now >= len(CONTROLS))


def check(network, rows):
    """Prints how many of the held-out sentences have no error, and how many of their words are correct."""
    sentences = words = total = 0
    with torch.no_grad():
        for features, text in rows:
            said = spoken(network(features.float()[None])[0])
            right = "".join(TOKENS[token] for token in text)
            sentences += said == right
            matches = SequenceMatcher(None, said.split(), right.split(), autojunk=False).get_matching_blocks()
            words += sum(match.size for match in matches)
            total += len(right.split())
    print(f"held out: {sentences} of {len(rows)} sentences, {words} of {total} words; such as: {said} / {right}", flush=True)


def train(network, steps, folder):
    rows, held = shelf(300, 1, False), shelf(30, 2, True)
    rows.sort(key=lambda row: row[0].shape[1])
    print(len(rows), "sentences", flush=True)
    pick = random.Random(3)
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps, pct_start=0.1)
    loss_of = nn.CTCLoss(blank=0, zero_infinity=True)
    for step in range(steps):
        at = pick.randrange(len(rows) - BATCH)
        features, frames, targets, lengths = batch(rows[at : at + BATCH])
        loss = loss_of(network(features).log_softmax(1).permute(2, 0, 1), targets, frames, lengths)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5)
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print(step + 1, round(loss.item(), 3), flush=True)
            check(network, held)
            export(network, folder)


def export(network, folder):
    """Writes the network with 16-bit weights, which ONNX Runtime converts to 32 bits."""
    os.makedirs(folder, exist_ok=True)
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(value.astype(np.float16), name + ".half"))
        nodes.append(helper.make_node("Cast", [name + ".half"], [name], to=TensorProto.FLOAT))
        return name

    def convolve(name, given, weight, bias=None, **more):
        inputs = [given, constant(name + ".weight", weight)] + ([] if bias is None else [constant(name + ".bias", bias)])
        nodes.append(helper.make_node("Conv", inputs, [name], **more))
        return name

    def add(operation, *given, name, **more):
        nodes.append(helper.make_node(operation, list(given), [name], **more))
        return name

    constants.append(numpy_helper.from_array(np.array([1]), "axis"))
    constants.append(numpy_helper.from_array(np.float32(1e-4), "least"))
    constants.append(numpy_helper.from_array(np.float32(4), "four"))
    sound = add("Unsqueeze", "x", "axis", name="sound")
    waves = [convolve(name, sound, wave, strides=[HOP], pads=[WINDOW // 2 - HOP // 2] * 2)
             for name, wave in zip(("cosines", "sines"), filters())]
    squares = [add("Mul", wave, wave, name=wave + ".square") for wave in waves]
    power = add("Add", add("Add", *squares, name="sum"), "least", name="power")
    x = add("Div", add("Log", power, name="log"), "four", name="features")
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    own = lambda name: (weights[name + ".weight"], weights[name + ".bias"])
    x = add("Relu", convolve("first", x, *own("first"), strides=[2], pads=[KERNEL // 2] * 2), name="first.relu")
    for index, dilation in enumerate(DILATIONS):
        name = f"layers.{index}"
        made = convolve(name, x, *own(name), dilations=[dilation], pads=[dilation * (KERNEL // 2)] * 2)
        x = add("Add", x, add("Relu", made, name=name + ".relu"), name=name + ".sum")
    add("Transpose", convolve("scores", x, *own("scores")), name="logits", perm=[0, 2, 1])
    port = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "ctc", [port("x", ["N", "samples"])], [port("logits", ["N", "frames", len(TOKENS)])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="steno")
    # These metadata keys are also in the files that sherpa-onnx exports from Omnilingual ASR.
    helper.set_model_props(model, {"model_type": "omnilingual-asr", "version": "1", "model_author": "steno"})
    onnx.checker.check_model(model)
    onnx.save(model, folder + "/model.onnx")
    lines = [f"{token} {number}\n" if token != " " else f" {number}\n" for number, token in enumerate(TOKENS)]
    open(folder + "/tokens.txt", "w").write("".join(lines))


def resume(network, folder):
    constants = {each.name: numpy_helper.to_array(each) for each in onnx.load(folder + "/model.onnx").graph.initializer}
    with torch.no_grad():
        for name, value in network.named_parameters():
            value.copy_(torch.from_numpy(constants[name + ".half"].astype(np.float32)))


if __name__ == "__main__":
    torch.manual_seed(4)
    torch.set_num_threads(1)
    network = Network()
    if len(sys.argv) > 3:
        resume(network, sys.argv[3])
    train(network, int(sys.argv[1]), sys.argv[2])
