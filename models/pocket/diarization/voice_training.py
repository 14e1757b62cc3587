"""What the training of the counter and of the frame embedder have in common: the layers, the data, and the steps."""
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH = 512  # the width of the encoder's states
DILATIONS = (1, 2, 4, 8, 16)
RATE, ROWS, FRAMES = 2.5e-3, 12, 600
NOBODY_KNOWS = 255  # the speakers of a frame after the end of a window


class Layer(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.convolution = nn.Conv1d(channels, channels, 5, dilation=dilation, padding=2 * dilation)
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x):
        return x + F.dropout(F.relu(self.norm(self.convolution(x))), 0.1, self.training)


class Trunk(nn.Module):
    """The first layers of both networks: a matrix, and convolutions with growing dilations."""

    def __init__(self, channels):
        super().__init__()
        self.register_buffer("mean", torch.zeros(WIDTH))
        self.register_buffer("deviation", torch.ones(WIDTH))
        self.first = nn.Linear(WIDTH, channels)
        self.norm = nn.LayerNorm(channels)
        self.layers = nn.Sequential(*[Layer(channels, dilation) for dilation in DILATIONS])

    def narrow(self, states):
        """[rows, frames, width] -> [rows, channels, frames]"""
        x = F.dropout((states - self.mean) / self.deviation, 0.3, self.training)
        return F.relu(self.norm(self.first(x))).transpose(1, 2)

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


class Windows:
    """The windows of voice_data.py."""

    def __init__(self, paths):
        self.states, self.speakers, self.conditions, self.voices = [], [], [], []
        for path in paths:
            saved = np.load(path)
            ends = np.cumsum(saved["lengths"])[:-1]
            self.states += np.split(saved["states"], ends)
            self.speakers += np.split(saved["speakers"], ends)
            self.conditions += list(saved["conditions"])
            self.voices += list(saved["voices"])

    def scale(self):
        some = np.concatenate([x[::7] for x in self.states]).astype(np.float32)
        return torch.from_numpy(some.mean(0)), torch.from_numpy(some.std(0) + 1e-3)

    def batch(self, n):
        """Returns parts of random windows: states, speakers in both halves of each frame, and voices of the speakers."""
        states = np.zeros((ROWS, FRAMES, WIDTH), np.float32)
        speakers, voices = np.full((ROWS, FRAMES, 2), NOBODY_KNOWS, np.uint8), []
        for row, at in enumerate(n.integers(len(self.states), size=ROWS)):
            own = self.states[at]
            start = n.integers(max(1, len(own) - FRAMES + 1))
            part = own[start : start + FRAMES]
            states[row, : len(part)] = part
            speakers[row, : len(part)] = self.speakers[at][start : start + FRAMES]
            voices.append(self.voices[at])
        return torch.from_numpy(states), torch.from_numpy(speakers), torch.tensor(np.array(voices))


def train(net, mean, windows, minutes, out, loss_of, report):
    """Trains `net` for some minutes of CPU time. `mean` becomes the mean of its weights over the last hundred steps."""
    torch.set_num_threads(1)
    net.mean, net.deviation = windows.scale()
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=1e-2)
    begin, step, told, kept = time.process_time(), 0, time.time(), {k: v.clone() for k, v in net.state_dict().items()}
    n = np.random.default_rng(5)
    while (share := (time.process_time() - begin) / (60 * float(minutes))) < 1:
        step += 1
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, step / 50) * (0.49 * (1 + np.cos(np.pi * share)) + 0.02)
        states, speakers, voices = windows.batch(n)
        states += net.deviation * 0.15 * torch.randn(ROWS, 1, WIDTH)  # as another microphone would
        loss = loss_of(net, states, speakers, voices, n)
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
            report(mean)
            torch.save(kept, out)
    mean.load_state_dict(kept)
    report(mean)
    torch.save(kept, out)
