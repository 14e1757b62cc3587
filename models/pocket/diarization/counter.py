"""Trains the counter of voices, a part of the voice network: python counter.py MINUTES OUT.pt HELD.npz DATA.npz...

The counter reads the states of Whisper base's encoder before the fourth of its six layers. For each half of a model
frame (10 ms), it gives the probabilities of no voice, one voice, and two or more voices. voice_data.py makes the data,
and voice_network.py exports the network.
"""
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from voice_training import NOBODY_KNOWS, Trunk, Windows, train

CHANNELS, VOICES = 64, 3
COUNTS = torch.tensor([min(2, speakers.bit_count()) for speakers in range(8)])  # the number of voices in a bit set


class Counter(Trunk):
    def __init__(self):
        super().__init__(CHANNELS)
        self.last = nn.Linear(CHANNELS, 2 * VOICES)

    def forward(self, states):
        """[rows, frames, width] -> log-probabilities [rows, frames, halves, voices]"""
        x = self.layers(self.narrow(states)).transpose(1, 2)
        return self.last(x).reshape(states.shape[0], -1, 2, VOICES).log_softmax(-1)


def loss_of(net, states, speakers, _voices, _n):
    counts = torch.where(speakers == NOBODY_KNOWS, -1, COUNTS[speakers.long() % 8])
    return F.nll_loss(net(states).reshape(-1, VOICES), counts.reshape(-1), ignore_index=-1)


def report(net, held):
    """Prints, for each condition, wrong speech and silence in % of the speech, and wrong numbers in % of the voices."""
    net.eval()
    sums = {}
    with torch.no_grad():
        for states, speakers, condition in zip(held.states, held.speakers, held.conditions):
            said = net(torch.from_numpy(states.astype(np.float32))[None])[0].argmax(-1).numpy()
            truth = COUNTS.numpy()[speakers]
            wrong = [((said > 0) != (truth > 0)).sum(), np.abs(said - truth).sum(), (truth > 0).sum(), truth.sum()]
            sums[condition] = sums.get(condition, 0) + np.array(wrong)
    net.train()
    print(" | ".join(f"{k} {100 * a / c:.1f} {100 * b / d:.1f}" for k, (a, b, c, d) in sorted(sums.items())), flush=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    minutes, out, held, *paths = sys.argv[1:]
    held = Windows([held])
    train(Counter(), Counter(), Windows(paths), minutes, out, loss_of, lambda net: report(net, held))
