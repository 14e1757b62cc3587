"""A simple diarizer that measures the exported models: python diarizer.py MODELS POOL.pkl [EACH]

The method is that of pyannote 3.1. A window of ten seconds begins each second. In each window, the segmentation model
finds up to three local speakers. The embedding of a local speaker is computed from the frames in which only this
speaker talks. The embeddings are clustered by centroid linkage. The number of speakers in a frame is the average of
all windows that contain the frame.
"""
import random
import sys

import numpy as np
import onnxruntime
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment

from features import fbank
from mixtures import CENTRES, CLASSES, FRAMES, RATE, SAMPLES, Mixtures

STEP = 1.0  # the time between the starts of two windows, in seconds
THRESHOLD = 0.30  # the threshold of the clustering, a cosine distance
CLEAN_MIN = 0.8  # a local speaker who talks alone for fewer seconds forms no cluster
CLUSTER_MIN = 8  # the minimum size of a cluster; with few masks, the minimum is a tenth of them
ACTIVE = np.array([[s in c for s in range(3)] for c in CLASSES], np.float32)


class Diarizer:
    def __init__(self, models):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        open_ = lambda name: onnxruntime.InferenceSession(f"{models}/{name}/onnx/model.onnx", options)
        self.segmentation, self.embedding = open_("pyannote-segmentation-pocket"), open_("wespeaker-pocket")

    def analyse(self, x):
        """Returns the activity [windows, frames, 3], and the masks: (window, local speaker, seconds alone, embedding)."""
        step, n = int(STEP * RATE), len(x)
        windows = max(1, int(np.ceil(max(0, n - SAMPLES) / step)) + 1)
        padded = np.concatenate([x, np.zeros(SAMPLES + step, np.float32)])
        features = fbank(padded).numpy()
        active = []
        for w in range(windows):
            log = self.segmentation.run(None, dict(input_values=padded[None, None, w * step : w * step + SAMPLES]))[0]
            active.append(ACTIVE[log[0].argmax(1)])
        active = np.array(active)
        frame_of = np.clip(np.round((np.arange(998) * 160 + 200 - 495) / 270).astype(int), 0, FRAMES - 1)
        masks = []
        for w in range(windows):
            active[w][CENTRES + w * step >= n] = 0
            alone = active[w].sum(1) == 1
            for k in range(3):
                said = active[w, :, k] > 0
                clean = said & alone
                seconds = clean.sum() * 270 / RATE
                if said.sum() < 8:
                    continue
                own = features[w * step // 160 : w * step // 160 + 998][(clean if seconds >= 0.3 else said)[frame_of]]
                if len(own) >= 25:
                    own = own - own.mean(0)
                    masks.append((w, k, seconds, self.embedding.run(None, dict(input_features=own[None]))[0][0]))
        return active, masks

    def cluster(self, masks, threshold=THRESHOLD):
        if not masks:
            return []
        vectors, seconds = np.array([m[3] for m in masks]), np.array([m[2] for m in masks])
        good = np.flatnonzero(seconds >= CLEAN_MIN)
        if len(good) < 2:
            good = np.argsort(-seconds)[: max(2, len(seconds))]
        if len(good) < 2:
            return [0] * len(masks)
        labels = fcluster(linkage(vectors[good], "centroid"), np.sqrt(2 * threshold), "distance")
        sizes = np.bincount(labels)
        least = min(CLUSTER_MIN, max(1, round(0.1 * len(good))))
        kept = [c for c in range(1, len(sizes)) if sizes[c] >= least] or [int(sizes.argmax())]
        centres = np.array([vectors[good][labels == c].mean(0) for c in kept])
        likeness = vectors @ (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T
        out = [0] * len(masks)
        for w in {m[0] for m in masks}:  # with enough clusters, the local speakers of a window get different labels
            own = [j for j, m in enumerate(masks) if m[0] == w]
            if len(own) <= len(kept):
                for a, b in zip(*linear_sum_assignment(-likeness[own])):
                    out[own[a]] = int(b)
            else:
                for j in own:
                    out[j] = int(likeness[j].argmax())
        return out

    def join(self, active, masks, labels, samples):
        total, speakers = samples // 160, max(labels, default=0) + 1
        votes, count, seen = np.zeros((speakers, total)), np.zeros(total), np.zeros(total)
        frame_of = np.clip(np.round(((np.arange(1000) * 160 + 80) - 495) / 270).astype(int), 0, FRAMES - 1)
        for w in range(len(active)):
            a = int(w * STEP * 100)
            b = min(total, a + 1000)
            seen[a:b] += 1
            count[a:b] += active[w].sum(1)[frame_of[: max(0, b - a)]]
        for (w, k, _, _), label in zip(masks, labels):
            a = int(w * STEP * 100)
            b = min(total, a + 1000)
            votes[label, a:b] += active[w, frame_of[: max(0, b - a)], k]
        count = np.round(count / np.maximum(seen, 1)).astype(int)
        out, order = np.zeros((speakers, total), bool), np.argsort(-votes, 0)
        for rank in range(min(2, speakers)):
            now = np.flatnonzero(count > rank)
            out[order[rank][now], now] = True
        return out & (votes > 0)

    def __call__(self, x, threshold=THRESHOLD):
        active, masks = self.analyse(x)
        return self.join(active, masks, self.cluster(masks, threshold), len(x))


def error_parts(truth, said, collar=0.25):
    """Counts the 10 ms frames of missed, false, confused and all speech. Frames within the collar of an edge do not count."""
    total = max(truth.shape[1], said.shape[1])
    truth, said = (np.pad(a, ((0, 0), (0, total - a.shape[1]))) for a in (truth, said))
    counted = np.ones(total, bool)
    for row in truth if collar else []:
        for edge in np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]]))):
            counted[max(0, edge - int(collar * 100)) : edge + int(collar * 100)] = False
    truth, said = truth[:, counted], said[:, counted]
    pairs = zip(*linear_sum_assignment(-(truth.astype(int) @ said.T.astype(int))))
    right = sum((truth[a] & said[b]).astype(int) for a, b in pairs)
    nt, ns = truth.sum(0), said.sum(0)
    return np.array([np.maximum(nt - ns, 0).sum(), np.maximum(ns - nt, 0).sum(), (np.minimum(nt, ns) - right).sum(), nt.sum()])


def conversation(source, kinds, count, seconds, seed):
    """Makes a conversation of unseen voices, with pauses. Returns its samples and its truth [speakers, 10 ms]."""
    r = random.Random(seed)
    pool, voices = [v for v in source.voices if v["kind"] in kinds], []
    while len(voices) < count:
        voice = r.choice(pool)
        if all(voice["base"] != v["base"] for v in voices):
            voices.append(voice)
    x, truth = np.zeros(seconds * RATE, np.float32), np.zeros((count, seconds * 100), bool)
    t, now, turn = r.uniform(0.2, 1), 0, [r.randrange(len(v["utterances"])) for v in voices]
    while t < seconds - 1:
        i = turn[now] % len(voices[now]["utterances"])
        turn[now] += 1
        speech, flags = voices[now]["utterances"][i], voices[now]["speech"][i]
        a = int(t * 100)
        b = min(seconds * 100, a + len(flags))
        x[a * 160 : b * 160] += speech[: (b - a) * 160].astype(np.float32) / 32768
        truth[now, a:b] |= flags[: b - a]
        t = b / 100 + 0.35 * r.uniform(0.4, 2)
        if r.random() > 0.25:
            now = r.choice([k for k in range(count) if k != now])
    return x, truth[truth.any(1)]


if __name__ == "__main__":
    diarizer, source = Diarizer(sys.argv[1]), Mixtures(sys.argv[2], "test", 11)
    each = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    for name, kinds in (("espeak voices", ["espeak"]), ("flite and festival voices", ["natural"]), ("both", ["espeak", "natural"])):
        made = [conversation(source, kinds, 2 + i % 3, 75, 100 * len(name) + i) for i in range(each)]
        heard = [diarizer.analyse(x) for x, _ in made]
        for threshold in (0.25, 0.30, 0.35, 0.40, 0.45, 0.5):
            parts, counted = np.zeros(4), 0
            for (x, truth), (active, masks) in zip(made, heard):
                said = diarizer.join(active, masks, diarizer.cluster(masks, threshold), len(x))
                parts += error_parts(truth, said)
                counted += int(said.any(1).sum() == len(truth))
            print(f"{name}, threshold {threshold}: DER {100 * parts[:3].sum() / parts[3]:.1f} % (missed, false, confused "
                  f"{np.round(100 * parts[:3] / parts[3], 1)}), right count {counted} of {each}", flush=True)
