"""The segmentation model. For ten seconds of sound, it finds which of up to three local speakers talk in each frame.

The model has a fixed bank of band filters, convolutions, and two recurrent layers. Between the recurrent layers, an
attention connects each frame with the frames of the same voice. An auxiliary loss trains this attention; without this
loss, the training would take much longer.

The recurrent layers propose a speaker number for each frame, but they do not always give a voice the same number in
all ten seconds. So the proposal is refined: the voice of each number is averaged over its frames, and each frame moves
towards the number with the most similar voice.

    python segmentation.py POOL.pkl STEPS OUT.pt [RESUME.pt]      DEVICE=cuda for a GPU
"""
import itertools
import multiprocessing as mp
import os
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from mixtures import CLASSES, Mixtures

DEVICE = os.environ.get("DEVICE", "cpu")
BANDS, KERNEL, STRIDE = 40, 541, 90
ROUNDS = 5  # the number of times that the proposal is refined


def band_filters():
    """Returns a cosine and a sine filter for 40 bands, from 60 to 7600 Hz on the mel scale. Narrow bands have long filters."""
    mel = np.linspace(2595 * np.log10(1 + 60 / 700), 2595 * np.log10(1 + 7600 / 700), BANDS + 2)
    hertz = 700 * (10 ** (mel / 2595) - 1)
    t = np.arange(KERNEL) - KERNEL // 2
    out = []
    for low, centre, high in zip(hertz, hertz[1:], hertz[2:]):
        width = np.clip(16000 / (high - low) * 0.75, 40, 120)
        window = np.exp(-0.5 * (t / width) ** 2)
        window /= window.sum()
        out.append((np.cos(2 * np.pi * centre * t / 16000) * window, np.sin(2 * np.pi * centre * t / 16000) * window))
    out = np.array(out, np.float32)
    return torch.from_numpy(np.concatenate([out[:, 0], out[:, 1]]))[:, None]


PAIRS = [(0, 1), (0, 2), (1, 2)]


def moved(a, b):
    """Returns a matrix: how the probabilities of the classes change if the speakers a and b are the same speaker a."""
    out = np.zeros((len(CLASSES), len(CLASSES)))
    for i, c in enumerate(CLASSES):
        if b in c:
            out[i, i] -= 1
            out[i, CLASSES.index(tuple(sorted({a if s == b else s for s in c})))] += 1
    return out


class Segmentation(nn.Module):
    """Converts samples [batch, 1, samples] to log-probabilities [batch, (samples - 721) // 270, 7]."""

    def __init__(self, channels=80, hidden=64, voice=32, out=64, speakers=1):
        super().__init__()
        self.register_buffer("filters", band_filters())
        self.conv1, self.norm1 = nn.Conv1d(2 * BANDS, channels, 6, stride=3), nn.BatchNorm1d(channels)
        self.conv2, self.norm2 = nn.Conv1d(channels, channels, 5, padding=2), nn.BatchNorm1d(channels)
        self.conv3, self.norm3 = nn.Conv1d(channels, channels, 4, stride=2, padding=2), nn.BatchNorm1d(channels)
        self.conv4, self.norm4 = nn.Conv1d(channels, channels, 3, padding=2, dilation=2), nn.BatchNorm1d(channels)
        self.first = nn.GRU(channels, hidden, batch_first=True, bidirectional=True)
        self.voice, self.weight = nn.Linear(2 * hidden, voice), nn.Linear(2 * hidden, 1)
        self.sharpness = nn.Parameter(torch.tensor(6.0))
        self.join = nn.Linear(4 * hidden, 96)
        self.second = nn.GRU(96, hidden, batch_first=True, bidirectional=True)
        self.conv5, self.classes = nn.Conv1d(2 * hidden + channels, out, 3, padding=1), nn.Conv1d(out, len(CLASSES), 1)
        self.pull, self.pull_two = nn.Parameter(torch.full((ROUNDS,), 6.0)), nn.Parameter(torch.full((ROUNDS,), 3.0))
        self.merge_at, self.merge_sharpness = nn.Parameter(torch.tensor(0.65)), nn.Parameter(torch.tensor(25.0))
        of_pairs = [[float(k in pair) for pair in PAIRS] for k in range(3)]
        self.register_buffer("of_pairs", torch.tensor(of_pairs), persistent=False)
        self.register_buffer("merging", torch.tensor(np.array([moved(*p) for p in PAIRS]), dtype=torch.float32))
        # Two additional losses of the training use these parameters. `known` has a vector for each voice of the
        # training data. `same` has two numbers that turn the similarity of two frames into a score for "the same
        # voice".
        self.known = nn.Parameter(torch.randn(speakers, 2 * hidden) * 0.05)
        self.same = nn.Parameter(torch.tensor([6.0, -3.0]))

    def front(self, x):
        z = F.conv1d(x, self.filters, stride=STRIDE)
        z = z * z
        energy = z[:, :BANDS] + z[:, BANDS:]
        band = energy.mean(2, keepdim=True)
        total = band.mean(1, keepdim=True) + 1e-7
        even = torch.log(energy / (band + 0.01 * total) + 3e-4)  # each band relative to its own mean, which removes the effect of the room
        plain = torch.log(energy / total + 3e-5)
        return torch.cat([even * 0.35 + 0.7, plain * 0.3 + 0.7], 1)

    def body(self, f):
        x = F.relu(self.norm1(self.conv1(f)))
        x = F.relu(self.norm2(self.conv2(x)) + x)
        h = F.relu(self.norm3(self.conv3(x)))
        h = F.relu(self.norm4(self.conv4(h)) + h)
        h, _ = self.first(h.transpose(1, 2))
        voice = self.voice(h)
        voice = voice / torch.sqrt((voice * voice).sum(2, keepdim=True) + 1e-6)
        alike = torch.softmax(torch.matmul(voice, voice.transpose(1, 2)) * self.sharpness + self.weight(h).transpose(1, 2), 2)
        joined = F.relu(self.join(F.dropout(torch.cat([h, torch.matmul(alike, h)], 2), 0.1, self.training)))
        k, _ = self.second(joined)
        wide = k.transpose(1, 2).unsqueeze(3).expand(-1, -1, -1, 2).flatten(2)[:, :, : x.shape[2]]
        y = self.classes(F.relu(self.conv5(torch.cat([wide, x], 1))))
        proposed = F.log_softmax(y.transpose(1, 2), 2)
        return self.refined(proposed, voice), h, voice, proposed

    def refined(self, proposed, voice):
        """Refines the proposal: the number of speakers in a frame stays the same.

        Which speakers they are also depends on the similarity of the frame to the voice of each number. `voice` has a
        vector for every other frame, so the rounds before the last one read only these frames."""
        share = proposed.exp()
        none, one, two = share[:, :, :1], share[:, :, 1:4], share[:, :, 4:]
        one_all, two_all = one.sum(2, keepdim=True), two.sum(2, keepdim=True)
        half, half_all = self.halved(proposed[:, :, 1:4], voice), self.halved(one_all, voice)
        alone = self.halved(one, voice)
        for i in range(ROUNDS - 1):
            alone = half_all * torch.softmax(half + self.pull[i] * self.likeness(alone, voice), 2)
        alike = self.likeness(alone, voice).unsqueeze(2).expand(-1, -1, 2, -1).flatten(1, 2)[:, : proposed.shape[1]]
        pairs = torch.matmul(alike, self.of_pairs)
        share = torch.cat([none, one_all * torch.softmax(proposed[:, :, 1:4] + self.pull[-1] * alike, 2),
                           two_all * torch.softmax(proposed[:, :, 4:] + self.pull_two[-1] * pairs, 2)], 2)
        for i, (a, b) in enumerate(PAIRS):  # joins two numbers that have the same voice
            voices = self.voices(self.halved(share[:, :, 1:4], voice), voice)
            alike = (voices[:, a] * voices[:, b]).sum(1)[:, None, None]
            share = share + torch.sigmoid(self.merge_sharpness * (alike - self.merge_at)) * torch.matmul(share, self.merging[i])
        return torch.log(share.clamp(min=1e-6))

    def halved(self, values, voice):
        """Returns every other frame, as `voice` has them. A last frame that is missing becomes 0."""
        half = values[:, ::2]
        return F.pad(half, (0, 0, 0, 1))[:, : voice.shape[1]]

    def likeness(self, alone, voice):
        return torch.matmul(voice, self.voices(alone, voice).transpose(1, 2))

    def voices(self, alone, voice):
        """Returns the mean voice of each number over the frames in which it talks alone. Few such frames give a short vector."""
        voices = torch.matmul(alone.transpose(1, 2), voice)
        return voices / torch.sqrt((voices * voices).sum(2, keepdim=True) + 1)

    def forward(self, x):
        return self.body(self.front(x))[0]


# A class is the set of the speakers who talk in a frame. The model may give the numbers 0 to 2 to the three speakers in
# any order, so each of the six orders is right. `ORDERS` has these orders. `RENAMED[k][c]` is the class `c` after its
# speakers are renumbered by `ORDERS[k]`.
ORDERS = list(itertools.permutations(range(3)))
RENAMED = torch.tensor([[CLASSES.index(tuple(sorted(o[s] for s in c))) for c in CLASSES] for o in ORDERS], device=DEVICE)
ACTIVE = torch.tensor([[s in c for s in range(3)] for c in CLASSES], device=DEVICE).float()


def order_losses(log_probabilities, classes):
    return torch.stack([F.nll_loss(log_probabilities.transpose(1, 2), RENAMED[k][classes], reduction="none").mean(1)
                        for k in range(6)], 1)


def voice_losses(net, h, voice, classes, numbers):
    """Two losses for frames in which one speaker talks: do two frames have the same voice, and which voice is it?"""
    half = classes[:, ::2]
    half = F.pad(half, (0, h.shape[1] - half.shape[1]))
    alone = (half >= 1) & (half <= 3)
    v, l, a = voice[:, ::2], half[:, ::2], alone[:, ::2]
    likeness = torch.matmul(v, v.transpose(1, 2)) * net.same[0] + net.same[1]
    same, both = l[:, :, None] == l[:, None], a[:, :, None] & a[:, None]
    cost = F.softplus(likeness) - likeness * same
    one, two = (both & same).float(), (both & ~same).float()
    several = two.sum((1, 2)) > 0
    cost = (cost * one).sum((1, 2)) / (one.sum((1, 2)) + 1) + (cost * two).sum((1, 2)) / (two.sum((1, 2)) + 1)
    affinity = (cost * several).sum() / (several.sum() + 1e-3)
    means, who = [], []
    for k in range(3):
        mask = (half == k + 1).float()
        long = torch.where((mask.sum(1) > 15) & (numbers[:, k] >= 0))[0]
        if len(long):
            means.append((mask[long].unsqueeze(2) * h[long]).sum(1) / mask[long].sum(1, keepdim=True))
            who.append(numbers[long, k])
    means, who = F.normalize(torch.cat(means), dim=1), torch.cat(who)
    return affinity, F.cross_entropy(15 * means @ F.normalize(net.known, dim=1).T, who)


def error_parts(log_probabilities, classes):
    """Counts the frames of missed, false, confused and all speech, for the best order of the speakers in each window."""
    order = order_losses(log_probabilities, classes).argmin(1)
    truth = ACTIVE[torch.stack([RENAMED[k][c] for k, c in zip(order, classes)])]
    said = ACTIVE[log_probabilities.argmax(2)]
    nt, ns, right = truth.sum(2), said.sum(2), (truth * said).sum(2)
    return torch.stack([(nt - ns).clamp(min=0).sum(), (ns - nt).clamp(min=0).sum(),
                        (torch.minimum(nt, ns) - right).sum(), nt.sum()]).cpu().numpy()


def serve(queue, path, seed, early):
    torch.set_num_threads(1)
    source = Mixtures(path, "train", seed)
    while True:
        simple = early.value > 0
        made = [source.mixture(source.r.choice((2, 2, 3, None)) if simple else None) for _ in range(20)]
        x, y, n = zip(*made)
        queue.put((torch.from_numpy(np.stack(x))[:, None], torch.from_numpy(np.stack(y)), torch.tensor(n)))


def main(path, steps, out, resume=None):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    early, queue = mp.Value("i", 0 if resume else 1), mp.Queue(4)
    mp.Process(target=serve, args=(queue, path, int(time.time()) % 99999, early), daemon=True).start()
    tests = Mixtures(path, "test", 5)
    held = [tests.mixture(plain=i < 48) for i in range(96)]
    heldx, heldy = torch.from_numpy(np.stack([h[0] for h in held]))[:, None].to(DEVICE), torch.from_numpy(np.stack([h[1] for h in held])).to(DEVICE)
    speakers = len(Mixtures(path, "train", 0).voices)
    net = Segmentation(speakers=speakers).to(DEVICE)
    if resume:
        net.load_state_dict({**net.state_dict(), **torch.load(resume, map_location=DEVICE)})
    top = 1e-3 if resume else 2e-3
    optimizer = torch.optim.AdamW(net.parameters(), lr=top, weight_decay=1e-3)
    print("parameters", sum(p.numel() for p in net.parameters()) - net.known.numel() + net.filters.numel(), flush=True)

    def held_error():
        net.eval()
        with torch.no_grad():
            parts = [error_parts(net(heldx[i : i + 16]), heldy[i : i + 16]) for i in range(0, 96, 16)]
        net.train()
        plain, hard = sum(parts[:3]), sum(parts[3:])
        return f"plain {np.round(plain[:3] / plain[3], 3)} hard {np.round(hard[:3] / hard[3], 3)}"

    begin = saved = time.time()
    sums, errors = [], np.zeros(4)
    for step in range(1, steps + 1):
        share = (step - 1) / steps
        early.value = int(not resume and share < 0.25)
        for group in optimizer.param_groups:
            group["lr"] = top * min(1, step / 80) * (0.5 * (1 + np.cos(np.pi * share)) * 0.98 + 0.02)
        x, y, numbers = (part.to(DEVICE) for part in queue.get())
        with torch.no_grad():
            f = net.front(x)
        log_probabilities, h, voice, proposed = net.body(f)
        losses = order_losses(log_probabilities, y) + 0.3 * order_losses(proposed, y)
        # A sound has up to three speakers, and the model gives them the numbers 0 to 2. There are six orders of three
        # numbers. `losses` has one loss for each order. `losses.min(1)` is the loss of the best order, so it accepts
        # every order. `losses[:, 0]` accepts only one order: the order in which the speakers begin to talk. This is
        # easier to learn. So in a new training, `losses[:, 0]` gets the weight `first`. This weight begins at 0.7 and
        # falls to 0 in the first half of the steps.
        first = 0.0 if resume else max(0.0, 0.7 * (1 - share / 0.5))
        main_loss = first * losses[:, 0].mean() + (1 - first) * losses.min(1).values.mean()
        affinity, identity = voice_losses(net, h, voice, y, numbers)
        loss = main_loss + (0.8 if resume else 1) * (0.25 * affinity + 0.08 * identity)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 3.0)
        optimizer.step()
        sums.append([losses.min(1).values.mean().item(), affinity.item(), identity.item()])
        with torch.no_grad():
            errors = errors * 0.98 + error_parts(log_probabilities, y)
        if step % 50 == 0:
            print(f"{time.time() - begin:.0f}s {step} loss/affinity/identity {np.round(np.mean(sums[-50:], 0), 3)} "
                  f"missed/false/confused {np.round(errors[:3] / errors[3], 3)}", flush=True)
        if time.time() - saved > 120:
            saved = time.time()
            print("  unseen voices", held_error(), flush=True)
            torch.save(net.state_dict(), out)
    torch.save(net.state_dict(), out)
    print("end: unseen voices", held_error())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
