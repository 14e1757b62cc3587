"""Trains and exports the counter of voices: python counter.py train MINUTES OUT.pt HELD.npz DATA.npz... | export IN.pt OUT.onnx

The counter reads the states of Whisper base's encoder before the fourth of its six layers. For each half of a
model frame (10 ms), it gives the probabilities of no voice, one voice, and two or more voices. counter_data.py makes the
data.
"""
import os
import sys
import time

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn as nn
import torch.nn.functional as F

from export import halve

WIDTH, CHANNELS, VOICES = 512, 64, 3
DILATIONS = (1, 2, 4, 8, 16)
RATE, ROWS, FRAMES = 2.5e-3, 12, 600


class Layer(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.convolution = nn.Conv1d(CHANNELS, CHANNELS, 5, dilation=dilation, padding=2 * dilation)
        self.norm = nn.BatchNorm1d(CHANNELS)

    def forward(self, x):
        return x + F.dropout(F.relu(self.norm(self.convolution(x))), 0.1, self.training)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(WIDTH))
        self.register_buffer("deviation", torch.ones(WIDTH))
        self.first = nn.Linear(WIDTH, CHANNELS)
        self.norm = nn.LayerNorm(CHANNELS)
        self.layers = nn.Sequential(*[Layer(dilation) for dilation in DILATIONS])
        self.last = nn.Linear(CHANNELS, 2 * VOICES)

    def forward(self, states):
        """[rows, frames, width] -> log-probabilities [rows, frames, halves, voices]"""
        x = F.dropout((states - self.mean) / self.deviation, 0.3, self.training)
        x = F.relu(self.norm(self.first(x))).transpose(1, 2)
        return self.last(self.layers(x).transpose(1, 2)).reshape(states.shape[0], -1, 2, VOICES).log_softmax(-1)

    def fold(self):
        """Moves the normalisations of the input and of the batches into the weights, for the export."""
        with torch.no_grad():
            self.first.weight /= self.deviation
            self.first.bias -= self.first.weight @ self.mean
            self.mean.zero_()
            self.deviation.fill_(1)
            for layer in self.layers:
                norm, convolution = layer.norm, layer.convolution
                gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                convolution.weight *= gain[:, None, None]
                convolution.bias.copy_((convolution.bias - norm.running_mean) * gain + norm.bias)
                layer.norm = nn.Identity()


class Probabilities(nn.Module):
    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def forward(self, states):
        return self.counter(states).exp()


class Windows:
    def __init__(self, paths):
        self.states, self.voices, self.conditions = [], [], []
        for path in paths:
            saved = np.load(path)
            ends = np.cumsum(saved["lengths"])[:-1]
            self.states += np.split(saved["states"], ends)
            self.voices += np.split(saved["voices"], ends)
            self.conditions += list(saved["conditions"])

    def scale(self):
        some = np.concatenate([x[::7] for x in self.states]).astype(np.float32)
        return torch.from_numpy(some.mean(0)), torch.from_numpy(some.std(0) + 1e-3)

    def batch(self, n):
        states, voices = np.zeros((ROWS, FRAMES, WIDTH), np.float32), np.full((ROWS, FRAMES, 2), -1, np.int64)
        for row, at in enumerate(n.integers(len(self.states), size=ROWS)):
            own = self.states[at]
            start = n.integers(max(1, len(own) - FRAMES + 1))
            part = own[start : start + FRAMES]
            states[row, : len(part)] = part
            voices[row, : len(part)] = self.voices[at][start : start + FRAMES]
        return torch.from_numpy(states), torch.from_numpy(voices)


def report(net, held):
    """Prints, for each condition, wrong speech and silence in % of the speech, and wrong numbers in % of the voices."""
    net.eval()
    sums = {}
    with torch.no_grad():
        for states, voices, condition in zip(held.states, held.voices, held.conditions):
            said, truth = net(torch.from_numpy(states.astype(np.float32))[None])[0].argmax(-1).numpy(), voices.astype(int)
            wrong = [((said > 0) != (truth > 0)).sum(), np.abs(said - truth).sum(), (truth > 0).sum(), truth.sum()]
            sums[condition] = sums.get(condition, 0) + np.array(wrong)
    net.train()
    print(" | ".join(f"{k} {100 * a / c:.1f} {100 * b / d:.1f}" for k, (a, b, c, d) in sorted(sums.items())), flush=True)


def train(minutes, out, held, *paths):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    n, windows, held = np.random.default_rng(5), Windows(paths), Windows([held])
    net, mean = Counter(), Counter()
    net.mean, net.deviation = windows.scale()
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=1e-2)
    begin, step, told, kept = time.time(), 0, time.time(), {k: v.clone() for k, v in net.state_dict().items()}
    while (share := (time.time() - begin) / (60 * float(minutes))) < 1:
        step += 1
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, step / 50) * (0.49 * (1 + np.cos(np.pi * share)) + 0.02)
        states, voices = windows.batch(n)
        states += net.deviation * 0.15 * torch.randn(ROWS, 1, WIDTH)  # as another microphone would
        loss = F.nll_loss(net(states).reshape(-1, VOICES), voices.reshape(-1), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2)
        optimizer.step()
        keep = min(0.99, step / (step + 20))
        for key, value in net.state_dict().items():
            kept[key] = kept[key] * keep + value * (1 - keep) if value.dtype.is_floating_point else value.clone()
        if time.time() - told > 90:
            told = time.time()
            mean.load_state_dict(kept)
            print(step, round(loss.item(), 4), end=" ")
            report(mean, held)
    mean.load_state_dict(kept)
    report(mean, held)
    torch.save(kept, out)


def export(path, out):
    net = Counter().eval()
    net.load_state_dict(torch.load(path))
    states = torch.randn(2, 400, WIDTH) * net.deviation + net.mean
    with torch.no_grad():
        expected = net(states).exp().numpy()
    net.fold()
    axes = {"frames": {0: "rows", 1: "frames"}, "voices": {0: "rows", 1: "frames"}}
    torch.onnx.export(Probabilities(net), (states,), out, input_names=["frames"], output_names=["voices"],
                      dynamic_axes=axes, opset_version=17, dynamo=False)
    model = onnx.load(out)
    halve(model)
    model.producer_name = "steno"
    onnx.checker.check_model(model)
    onnx.save(model, out)
    got = onnxruntime.InferenceSession(out).run(None, dict(frames=states.numpy()))[0]
    print(got.shape, "largest difference", np.abs(got - expected).max(), os.path.getsize(out), "bytes")


if __name__ == "__main__":
    {"train": train, "export": export}[sys.argv[1]](*sys.argv[2:])
