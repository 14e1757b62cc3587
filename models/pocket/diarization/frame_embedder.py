"""Trains the frame embedder, a part of the voice network: python frame_embedder.py MINUTES OUT.pt HELD.npz DATA.npz...

The frame embedder reads the states of Whisper base's encoder before the fourth of its six layers. For each two model
frames (40 ms), it gives a unit vector that stands for the voice. The training cuts the speech of single voices into
spans of 0.3 to 2 s. The mean vector of a span must be near those of the same voice in the window, far from those of the
other voices, and it must tell which voice of the training data it is. voice_data.py makes the data, and
voice_network.py exports the network.
"""
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from voice_training import Trunk, Windows, train

CHANNELS, EMBEDDING = 128, 48
SHORTEST, LONGEST = 7, 50  # the length of a span, in steps of 40 ms
SHARPNESS, MARGIN, IDENTITY = 24, 0.2, 0.3  # of the loss that tells the voices apart, and its weight


class FrameEmbedder(Trunk):
    def __init__(self, voices):
        super().__init__(CHANNELS)
        self.last = nn.Linear(CHANNELS, EMBEDDING)
        # The losses use these parameters. `known` has a vector for each voice of the training data. `same` turns the
        # cosine of two spans into a score for "the same voice".
        self.known = nn.Parameter(torch.randn(voices, EMBEDDING) * 0.05)
        self.same = nn.Parameter(torch.tensor([8.0, -4.0]))

    def forward(self, states):
        """[rows, frames, width] -> [rows, frames / 2, embedding]; a frame without a partner is its own partner."""
        x = self.narrow(states)
        x = F.avg_pool1d(torch.cat([x, x[:, :, -1:]], 2), 2)
        x = self.last(self.layers(x).transpose(1, 2))
        return x / torch.sqrt((x * x).sum(2, keepdim=True) + 1e-12)


def singles(speakers):
    """Returns the speaker of each two frames if this speaker talks alone in them, and -1 if not."""
    pairs = speakers[: len(speakers) // 2 * 2].reshape(-1, 4)
    alone = np.full(len(pairs), -1)
    for speaker in range(3):
        alone[(pairs == 1 << speaker).all(1)] = speaker
    return alone


def runs_of(alone):
    edges = np.flatnonzero(np.diff(np.concatenate([[-9], alone, [-9]])))
    return [(a, b, alone[a]) for a, b in zip(edges[:-1], edges[1:]) if alone[a] >= 0]


def spans_of(alone, n):
    """Cuts the speech of single voices into spans of random length: start, end, speaker."""
    out = []
    for start, end, speaker in runs_of(alone):
        while end - start >= SHORTEST:
            size = min(end - start, int(n.integers(SHORTEST, LONGEST)))
            if end - start - size < SHORTEST:
                size = end - start
            out.append((start, start + size, speaker))
            start += size
    return out


def near_and_far(net, vectors, speakers):
    """The loss of one window: spans of one voice must be near to each other, and far from those of other voices."""
    same = speakers[:, None] == speakers[None]
    likeness = vectors @ vectors.T * net.same[0] + net.same[1]
    cost = F.softplus(likeness) - likeness * same
    near, far = (same & ~torch.eye(len(speakers), dtype=torch.bool)).float(), (~same).float()
    return (cost * near).sum() / (near.sum() + 1) + (cost * far).sum() / (far.sum() + 1)


def loss_of(net, states, speakers, voices, n):
    embeddings, far, vectors, names, weights = net(states), [], [], [], []
    for row in range(len(states)):
        spans = spans_of(singles(speakers[row].numpy()), n)
        if not spans:
            continue
        mean = torch.zeros(len(spans), embeddings.shape[1])
        for index, (start, end, _) in enumerate(spans):
            mean[index, start:end] = 1 / (end - start)
        own, who = F.normalize(mean @ embeddings[row], dim=1), torch.tensor([speaker for _, _, speaker in spans])
        vectors.append(own)
        names.append(voices[row][who])
        weights.append(torch.tensor([float(end - start) for start, end, _ in spans]).sqrt())
        if (who != who[0]).any():
            far.append(near_and_far(net, own, who))
    names, weights = torch.cat(names), torch.cat(weights)
    scores = torch.cat(vectors) @ F.normalize(net.known, dim=1).T - MARGIN * F.one_hot(names, len(net.known))
    identity = F.cross_entropy(SHARPNESS * scores, names, label_smoothing=0.05, reduction="none")
    return (torch.stack(far).mean() if far else 0) + IDENTITY * (identity * weights).sum() / weights.sum()


def report(net, held):
    """Prints how many spans of 0.4 s are nearer to another voice of the window than to their own, in %."""
    net.eval()
    sums = {}
    with torch.no_grad():
        for states, speakers, condition in zip(held.states, held.speakers, held.conditions):
            vectors = net(torch.from_numpy(states.astype(np.float32))[None])[0].numpy()
            spans = [(at, min(end, at + 10), speaker) for start, end, speaker in runs_of(singles(speakers))
                     for at in range(start, end, 10) if min(end, at + 10) - at >= 6]
            totals = {own: sum(vectors[a:b].sum(0) for a, b, speaker in spans if speaker == own) for _, _, own in spans}
            frames = {own: sum(b - a for a, b, speaker in spans if speaker == own) for own in totals}
            if len(totals) < 2 or min(frames.values()) < 30:
                continue
            for a, b, speaker in spans:
                own = vectors[a:b].sum(0)
                rest = {k: total - own * (k == speaker) for k, total in totals.items()}
                nearest = max(rest, key=lambda k: rest[k] @ own / (np.linalg.norm(rest[k]) + 1e-6))
                sums[condition] = sums.get(condition, 0) + np.array([nearest != speaker, 1])
    net.train()
    print(" | ".join(f"{k} {100 * wrong / all:.1f} of {all}" for k, (wrong, all) in sorted(sums.items())), flush=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    minutes, out, held, *paths = sys.argv[1:]
    windows, held = Windows(paths), Windows([held])
    count = 1 + max(int(voices.max()) for voices in windows.voices)
    train(FrameEmbedder(count), FrameEmbedder(count), windows, minutes, out, loss_of, lambda net: report(net, held))
