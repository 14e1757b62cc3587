"""The model of speaker embeddings. An embedding consists of two unit vectors.

The first vector is linear: statistics of the features (spread, loud and quiet spectra, covariance of the cepstrum),
projected by a discriminant analysis. It also works on voices that differ from those in the training. The second vector
comes from a small time-delay network.

    python embedding.py POOL.pkl MINUTES OUT.pt     trains the model, and prints its equal error rates on unseen voices
    python embedding.py POOL.pkl 0 OUT.pt           only prints the equal error rates
"""
import pickle
import random
import sys
import time

import numpy as np
import scipy.linalg
import torch
import torch.nn as nn
import torch.nn.functional as F

from features import fbank, telephone, worn

CEPSTRA, LINEAR, DEEP = 24, 96, 160  # LINEAR + DEEP = 256, the length of the published embeddings
DEEP_SHARE = 0.6  # the weight of the second vector in the cosine of two embeddings


def unit(x):
    return x / torch.sqrt((x * x).sum(1, keepdim=True) + 1e-8)


class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        band = np.arange(80)
        cosines = [np.cos(np.pi * k * (band + 0.5) / 80) * np.sqrt(2 / 80) for k in range(1, CEPSTRA + 1)]
        upper = np.triu_indices(CEPSTRA)
        self.register_buffer("cosines", torch.tensor(np.array(cosines).T, dtype=torch.float32))
        self.register_buffer("upper", torch.tensor(upper[0] * CEPSTRA + upper[1]))

    def forward(self, x):
        x = x - x.mean(1, keepdim=True)
        spread = torch.sqrt((x * x).mean(1) + 1e-4)
        loudness = x.mean(2, keepdim=True)
        out = [torch.log(spread + 0.05)]
        for steep in (0.7, 2.0):
            w = torch.sigmoid(steep * loudness * 2 - 1)
            out.append((w * x).sum(1) / (w.sum(1) + 1e-3))
        c = x @ self.cosines
        covariance = torch.matmul(c.transpose(1, 2), c / x.shape[1])
        out.append(covariance.flatten(1).index_select(1, self.upper))
        change = c[:, 2:] - c[:, :-2]
        out.append(torch.log(torch.sqrt((change * change).mean(1) + 1e-4)))
        harmonics = x[:, :, 1:24] - x[:, :, :23]
        w = torch.sigmoid(2 * loudness - 1)
        out.append((w * harmonics * harmonics).sum(1) / (w.sum(1) + 1e-3))
        return torch.cat(out, 1)


class Layer(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, dilation=dilation, padding=dilation)
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + x)


class Network(nn.Module):
    def __init__(self, channels=144, pooled=192, out=256):
        super().__init__()
        self.enter, self.enter_norm = nn.Conv1d(80, channels, 5, stride=2, padding=2), nn.BatchNorm1d(channels)
        self.layers = nn.Sequential(*(Layer(channels, d) for d in (1, 2, 3)))
        self.widen, self.widen_norm = nn.Conv1d(channels, pooled, 1), nn.BatchNorm1d(pooled)
        self.leave, self.leave_norm = nn.Linear(2 * pooled, out), nn.BatchNorm1d(out)

    def pooled(self, x):
        x = (x - x.mean(1, keepdim=True)).transpose(1, 2) * 0.3
        x = self.layers(F.relu(self.enter_norm(self.enter(x))))
        x = F.relu(self.widen_norm(self.widen(x)))
        mean = x.mean(2)
        return torch.cat([mean, torch.sqrt(((x - mean.unsqueeze(2)) ** 2).mean(2) + 1e-5)], 1)

    def forward(self, x):
        return unit(self.leave_norm(self.leave(self.pooled(x))))


class Embedding(nn.Module):
    """The exported model. It converts features [batch, frames, 80] to embeddings [batch, 256]."""

    def __init__(self, linear, network, speakers, deep_share=DEEP_SHARE):
        super().__init__()
        keep = lambda x: nn.Parameter(torch.as_tensor(x, dtype=torch.float32).contiguous(), requires_grad=False)
        self.statistics, self.deep_share = Statistics(), deep_share
        mean, spread, axes = linear
        self.linear, self.linear_bias = keep(axes / spread[:, None]), keep(-((mean / spread) @ axes))
        self.network = network.eval()
        # `speakers` has one vector for each speaker of the training data. `axes` has the first singular vectors of this
        # matrix; the constant DEEP is their number. The projection to `axes` shortens the output of the network to DEEP
        # values, and keeps most of what distinguishes the speakers. The last layer of the network, its batch norm and
        # this projection are three linear steps. They are joined into one matrix and one bias.
        axes = torch.linalg.svd(F.normalize(speakers, dim=1), full_matrices=False)[2][:DEEP].T
        gain = network.leave_norm.weight / torch.sqrt(network.leave_norm.running_var + network.leave_norm.eps)
        weight = network.leave.weight * gain[:, None]
        bias = (network.leave.bias - network.leave_norm.running_mean) * gain + network.leave_norm.bias
        self.deep, self.deep_bias = keep((axes.T @ weight).T.detach()), keep((axes.T @ bias).detach())

    def forward(self, x):
        linear = unit(self.statistics(x) @ self.linear + self.linear_bias)
        deep = unit(self.network.pooled(x) @ self.deep + self.deep_bias)
        return torch.cat([linear * (1 - self.deep_share) ** 0.5, deep * self.deep_share ** 0.5], 1)


def cut(f, frames):
    """Cuts some frames out of a voice. One result in four is joined from two places, as in a diarizer."""
    if random.random() < 0.25:
        half = frames // 2
        a, b = random.randint(0, len(f) - frames), random.randint(0, len(f) - frames)
        return torch.cat([f[a : a + half], f[b : b + frames - half]])
    a = random.randint(0, len(f) - frames)
    return f[a : a + frames]


def discriminants(voices):
    statistics, x, y = Statistics(), [], []
    with torch.no_grad():
        for i, voice in enumerate(voices):
            for k in range(40):
                f = cut(voice["all"], random.choice([150, 200, 250, 300, 400]))[None]
                x.append(statistics(f if k % 4 == 0 else worn(f))[0].numpy())
                y.append(i)
    x, y = np.array(x), np.array(y)
    mean, spread = x.mean(0), x.std(0) + 1e-6
    z = (x - mean) / spread
    centres = np.array([z[y == i].mean(0) for i in range(len(voices))])
    within, between = (z - centres[y]).T @ (z - centres[y]) / len(z), np.cov(centres.T)
    within += np.eye(len(within)) * 0.02 * np.trace(within) / len(within)
    value, axes = scipy.linalg.eigh(between, within)
    best = np.argsort(-value)[:LINEAR]
    return mean, spread, axes[:, best] * np.sqrt(value[best] / (1 + value[best]))


def train(voices, minutes):
    network, speakers = Network(), nn.Parameter(torch.randn(len(voices), 256) * 0.05)
    kinds = {k: [i for i, v in enumerate(voices) if v["kind"] == k] for k in ("espeak", "natural", "reader")}
    top = 2e-3
    optimizer = torch.optim.AdamW([*network.parameters(), speakers], lr=top, weight_decay=1e-3)
    begin, step, batch, losses = time.time(), 0, 96, []
    while time.time() - begin < minutes * 60:
        share = (time.time() - begin) / (minutes * 60)
        for group in optimizer.param_groups:
            group["lr"] = top * min(1, (step + 1) / 100) * (0.5 * (1 + np.cos(np.pi * share)) * 0.98 + 0.02)
        frames = random.choice([120, 160, 200, 250, 300])
        who = [random.choice(kinds[random.choices(list(kinds), (0.5, 0.3, 0.2))[0]]) for _ in range(batch)]
        f = torch.stack([cut(voices[i]["all"], frames) for i in who])
        clean = batch // 5
        f = torch.cat([worn(f[clean:]), f[:clean]])
        who = torch.tensor(who[clean:] + who[:clean])
        f = f - f.mean(1, keepdim=True)
        if random.random() < 0.5:
            a = random.randint(0, 70)
            f[:, :, a : a + random.randint(2, 9)] = 0
        cosine = network(f) @ F.normalize(speakers, dim=1).T
        own = cosine.gather(1, who[:, None]).clamp(-1 + 1e-6, 1 - 1e-6)
        margin = 0.2 * min(1, share / 0.3)  # the right speaker must be nearer by this angle
        loss = F.cross_entropy(30 * cosine.scatter(1, who[:, None], torch.cos(torch.acos(own) + margin)), who)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5)
        optimizer.step()
        step += 1
        losses.append(loss.item())
        if step % 200 == 0:
            right = (cosine.argmax(1) == who).float().mean().item()
            print(f"{time.time() - begin:.0f}s {step} loss {np.mean(losses[-200:]):.3f} right {right:.2f}", flush=True)
    return network, speakers.data


def equal_error_rate(vectors, voices):
    pairs = np.triu_indices(len(vectors), 1)
    score, same = (vectors @ vectors.T)[pairs], (voices[:, None] == voices[None])[pairs]
    order = np.argsort(score)
    same = same[order]
    missed, wrong = np.cumsum(same) / same.sum(), 1 - np.cumsum(~same) / (~same).sum()
    k = np.argmin(np.abs(missed - wrong))
    return (missed[k] + wrong[k]) / 2, score[order][k]


def evaluate(model, voices, seconds=4):
    for kind, kinds in (("espeak", ["espeak"]), ("flite and festival", ["natural"]), ("real", ["reader", "other"])):
        for name, change in (("clean", lambda f: f), ("worn", worn), ("telephone", telephone)):
            torch.manual_seed(1)
            vectors, who = [], []
            for i, voice in enumerate(voices):
                for f in voice["features"] if voice["kind"] in kinds else []:
                    for a in range(0, len(f), seconds * 100):
                        piece = f[a : a + seconds * 100][None]
                        if piece.shape[1] >= seconds * 75:
                            with torch.no_grad():
                                vectors.append(model(change(piece))[0].numpy())
                            who.append(i)
            if vectors:
                rate, at = equal_error_rate(np.array(vectors), np.array(who))
                print(f"equal error rate {kind} {name} {100 * rate:.1f} % at cosine {at:.2f}, {len(set(who))} voices, "
                      f"{len(who)} pieces of {seconds} s", flush=True)


def load(path, split):
    voices = [p for p in pickle.load(open(path, "rb")) if p["split"] == split]
    for v in voices:
        v["features"] = [fbank(u.astype(np.float32) / 32768) for u in v.pop("utterances")]
        v["all"] = torch.cat(v["features"])
    return voices


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0), random.seed(0), np.random.seed(0)
    pool, minutes, out = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    if minutes:
        voices = load(pool, "train")
        linear = discriminants(voices)
        print("discriminants done", flush=True)
        network, speakers = train(voices, minutes)
        torch.save(dict(linear=linear, network=network.state_dict(), speakers=speakers), out)
    saved = torch.load(out, weights_only=False)
    network = Network()
    network.load_state_dict(saved["network"])
    evaluate(Embedding(saved["linear"], network, saved["speakers"]).eval(), load(pool, "test"))
