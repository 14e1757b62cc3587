"""Measures the figures of the README on the exported files: python evaluate.py FOLDER [CLIPS] [SUFFIX]

A clip has two held-out sentences of one voice, with a pause of about half a second, and is padded to 30 s. Decoding is
greedy and follows the rules of Whisper: some tokens are suppressed, time tokens come in pairs, and the first time is at
most one second.
"""
import json
import random
import sys

import numpy as np
import onnxruntime
import torch
from scipy.ndimage import median_filter

import tokens as T
from model import LogMel
from train import DATA, MEL, TOKENIZER
from windows import Windows, load, plain

LIMIT = 224


class Recogniser:
    def __init__(self, folder, suffix=""):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        open_ = lambda name: onnxruntime.InferenceSession(f"{folder}/onnx/{name}{suffix}.onnx", options)
        self.encoder, self.decoder = open_("encoder_model"), open_("decoder_model_merged")
        self.config = json.load(open(folder + "/config.json"))
        self.generation = json.load(open(folder + "/generation_config.json"))
        self.tokenizer = T.Tokenizer(TOKENIZER)
        self.mel = LogMel(MEL)
        self.outputs = [o.name for o in self.decoder.get_outputs()]
        self.layers, self.heads = self.config["decoder_layers"], self.config["decoder_attention_heads"]

    def encode(self, x):
        whole = np.zeros(480000, np.float32)
        whole[: len(x)] = x[:480000]
        mel = self.mel(torch.from_numpy(whole)[None]).numpy()
        return self.encoder.run(None, dict(input_features=mel))[0]

    def step(self, ids, sound, past=None):
        feeds = dict(input_ids=np.array([ids], np.int64), encoder_hidden_states=sound,
                     use_cache_branch=np.array([past is not None]))
        for i in range(self.layers):
            for side in ("decoder", "encoder"):
                for part in ("key", "value"):
                    name = f"{i}.{side}.{part}"
                    feeds["past_key_values." + name] = past[name] if past else np.zeros((1, self.heads, 0, 64), np.float32)
        out = dict(zip(self.outputs, self.decoder.run(None, feeds)))
        kept = {k[8:]: v for k, v in out.items() if k.startswith("present.")}
        if past:
            kept.update({k: v for k, v in past.items() if ".encoder." in k})
        return out, kept

    def language(self, sound):
        """Returns the code of the detected language, and the probability that there is no speech."""
        logits = self.step([T.SOT], sound)[0]["logits"][0, 0]
        ids = self.generation["lang_to_id"]
        best = max(ids, key=lambda l: logits[ids[l]])
        e = np.exp(logits - logits.max())
        return best.strip("<|>"), float(e[T.NO_SPEECH] / e.sum())

    def decode(self, sound, lang, timed, before=()):
        start = list(before) + [T.SOT, self.tokenizer.language(lang), T.TRANSCRIBE] + ([] if timed else [T.NO_TIMES])
        out, past = self.step(start, sound)
        said = []
        while True:
            logits = out["logits"][0, -1].astype(np.float64)
            logits[self.config["suppress_tokens"]] = -np.inf
            logits[T.NO_TIMES] = -np.inf
            if not said:
                logits[self.config["begin_suppress_tokens"]] = -np.inf
            if timed:
                last = said and said[-1] >= T.TIME
                before_last = len(said) < 2 or said[-2] >= T.TIME
                if last:
                    if before_last:
                        logits[T.TIME :] = -np.inf
                    else:
                        logits[: T.EOT] = -np.inf
                stamps = [t for t in said if t >= T.TIME]
                if stamps:
                    logits[T.TIME : stamps[-1] + (0 if last and not before_last else 1)] = -np.inf
                if not said:
                    logits[: T.TIME] = -np.inf
                    logits[T.TIME + 51 :] = -np.inf
                e = logits - logits.max()
                if np.log(np.exp(e[T.TIME :]).sum() + 1e-300) > e[: T.TIME].max():
                    logits[: T.TIME] = -np.inf
            token = int(logits.argmax())
            if token == T.EOT or len(said) >= LIMIT:
                return said
            said.append(token)
            out, past = self.step([token], sound, past)

    def text(self, ids):
        return self.tokenizer.decode([i for i in ids if i < T.EOT]).strip()

    def text_starts(self, sound, lang, words, seconds):
        """Returns the start of each word, in seconds, computed as in openai/whisper.

        The decoder reads only the text, after the token <|notimestamps|>. The starts come from the attention."""
        pieces = [self.tokenizer.encode(" " + w) for w in words]
        ids = [i for p in pieces for i in p]
        first = self.path([T.SOT, self.tokenizer.language(lang), T.TRANSCRIBE, T.NO_TIMES], ids, sound, seconds)
        at = np.cumsum([0] + [len(p) for p in pieces])[:-1]
        return [first[i] * 0.02 for i in at]

    def timed_starts(self, sound, lang, ids, seconds):
        """Returns the words of the decoded tokens `ids`, and the start of each word in seconds.

        Here the decoder also reads the time tokens. They take the silence around a sentence. Without time tokens, the
        first word of the sentence would take this silence, and would start too early."""
        first = self.path([T.SOT, self.tokenizer.language(lang), T.TRANSCRIBE], ids, sound, seconds)
        words, starts = [], []
        for i, token in enumerate(ids):
            piece = self.tokenizer.bytes.get(token, b"")
            if piece.startswith(b" "):
                words.append(piece)
                starts.append(first[i] * 0.02)
            elif words:
                words[-1] += piece
        return [w.decode("utf8", "replace").strip() for w in words], starts

    def path(self, prompt, ids, sound, seconds):
        """Returns the first frame of each token in `ids`, by dynamic time warping over the attention of the alignment heads."""
        out, _ = self.step(prompt + ids + [T.EOT], sound)
        frames = min(1500, int(np.ceil(seconds / 0.02)))
        heads = np.stack([out[f"cross_attentions.{l}"][0, h] for l, h in self.generation["alignment_heads"]])
        heads = heads[:, len(prompt) - 1 : len(prompt) + len(ids), :frames]  # row i predicts ids[i]; the last row predicts the end
        heads = (heads - heads.mean(-2, keepdims=True)) / (heads.std(-2, keepdims=True) + 1e-9)
        return first_frames(-median_filter(heads, (1, 1, 7)).mean(0))


def first_frames(cost):
    n, m = cost.shape
    best, came = np.full((n + 1, m + 1), np.inf), np.zeros((n + 1, m + 1), int)
    best[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            ways = (best[i - 1, j - 1], best[i - 1, j], best[i, j - 1])
            k = int(np.argmin(ways))
            best[i, j], came[i, j] = cost[i - 1, j - 1] + ways[k], k
    i, j, first = n, m, {}
    while i > 0 and j > 0:
        first[i - 1] = j - 1
        k = came[i, j]
        i, j = (i - 1, j - 1) if k == 0 else (i - 1, j) if k == 1 else (i, j - 1)
    return [first[k] for k in range(n)]


def errors(truth, said):
    """Returns the number of word errors, and the number of words in the reference."""
    truth, said = truth.split(), said.split()
    return compare(truth, said)[0], len(truth)


def compare(truth, said):
    """Returns the number of word errors, and the pairs of indexes (reference, result) of the correct words."""
    truth, said = [plain(w) for w in truth], [plain(w) for w in said]
    cost = np.zeros((len(truth) + 1, len(said) + 1), int)
    cost[:, 0], cost[0] = range(len(truth) + 1), range(len(said) + 1)
    for i, a in enumerate(truth):
        for j, b in enumerate(said):
            cost[i + 1, j + 1] = min(cost[i, j] + (a != b), cost[i, j + 1] + 1, cost[i + 1, j] + 1)
    i, j, pairs = len(truth), len(said), []
    while i and j:
        if truth[i - 1] == said[j - 1] and cost[i, j] == cost[i - 1, j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif cost[i, j] == cost[i - 1, j - 1] + 1:
            i, j = i - 1, j - 1
        elif cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return int(cost[-1, -1]), pairs[::-1]


def clips(shelf, count, seed=3):
    r = random.Random(seed)
    by_voice = {}
    for samples, row in shelf:
        by_voice.setdefault((row["lang"], row["voice"]), []).append((samples, row))
    pool = [v for v in by_voice.values() if len(v) > 1]
    for _ in range(count):
        x, sentences, t = np.zeros(480000, np.float32), [], r.uniform(0.1, 0.6)
        for samples, row in r.sample(r.choice(pool), 2):
            speech = samples[row["at"] : row["at"] + row["length"]].astype(np.float32) / 32768
            i = int(t * 16000)
            x[i : i + len(speech)] += speech
            sentences.append((row["text"], [(w, a + t, b + t) for w, a, b in row["words"]]))
            t += len(speech) / 16000 + r.uniform(0.3, 0.8)
        x[: int(t * 16000)] += np.random.RandomState(1).randn(int(t * 16000)) * 0.0005
        yield row["lang"], row["voice"], x, t, sentences


def measure(recogniser, name, shelf, count):
    wrong, total, known, off, loud, examples = {False: 0, True: 0}, 0, 0, [], [], []
    text_off, timed_off, opens = [], [], []
    for lang, voice, x, seconds, sentences in clips(shelf, count):
        sound = recogniser.encode(x)
        detected, no_speech = recogniser.language(sound)
        known += detected == lang
        loud.append(no_speech)
        truth = " ".join(s[0] for s in sentences)
        words = [w for s in sentences for w in s[1]]
        total += len(words)
        for timed in (False, True):
            ids = recogniser.decode(sound, lang, timed)
            e = errors(truth, recogniser.text(ids))[0]
            wrong[timed] += e
            if e and len(examples) < 6:
                examples.append(f"    {voice} {'timed' if timed else 'plain'}: {truth} => {recogniser.text(ids)}")
        stamps = [(i - T.TIME) * 0.02 for i in ids if i >= T.TIME]
        edges = [t for _, said in sentences for t in (said[0][1], said[-1][2])]
        off += [abs(a - b) for a, b in zip(stamps, edges)] if len(stamps) == len(edges) else [9.0] * len(edges)
        starts = recogniser.text_starts(sound, lang, [w for w, _, _ in words], seconds)
        text_off += [a - w[1] for a, w in zip(starts, words)]
        opens += [i == 0 for _, said in sentences for i in range(len(said))]
        heard, starts = recogniser.timed_starts(sound, lang, ids, seconds)
        timed_off += [starts[j] - words[i][1] for i, j in compare([w for w, _, _ in words], heard)[1]]
    near = lambda x, within: f"{100 * (np.abs(x) < within).mean():.1f} %, median {np.median(np.abs(x)):.3f} s"
    text_off, opens = np.array(text_off), np.array(opens)
    print(f"{name}: {count} clips, {total} words\n"
          f"    WER plain {100 * wrong[False] / total:.1f} %, timed {100 * wrong[True] / total:.1f} %; "
          f"language right {100 * known / count:.1f} %; no-speech at most {max(loud):.3f}\n"
          f"    sentence edges within 0.2 s {near(np.array(off), 0.2)}\n"
          f"    word starts within 0.15 s, rows of the times in the path: {near(np.array(timed_off), 0.15)}\n"
          f"    word starts within 0.15 s, rows of text alone: {near(text_off, 0.15)}; "
          f"without the first of each sentence {near(text_off[~opens], 0.15)}", flush=True)
    print("\n".join(examples), flush=True)


def measure_silence(recogniser, count=24):
    source = Windows.__new__(Windows)
    source.r, source.n = random.Random(8), np.random.RandomState(8)
    source.noises = [source.make_noise(32 * 16000) for _ in range(8)]
    source.musics = [source.make_tones(32 * 16000) for _ in range(8)]
    texts, loud = [], []
    for i in range(count):
        n = random.Random(i).choice([80000, 240000, 320000, 480000])
        x = (np.zeros(n), source.noises[i % 8][:n] * 0.02, source.musics[i % 8][:n] * 0.06)[i % 3].astype(np.float32)
        sound = recogniser.encode(x)
        loud.append(recogniser.language(sound)[1])
        for timed in (False, True):
            text = recogniser.text(recogniser.decode(sound, "en", timed))
            if text:
                texts.append(f"    {('silence', 'noise', 'tones')[i % 3]} {'timed' if timed else 'plain'}: {text}")
    print(f"silence, noise, tones: {len(texts)} of {2 * count} decodings with text; no-speech at least {min(loud):.3f}, median {np.median(loud):.3f}")
    print("\n".join(texts[:8]), flush=True)


if __name__ == "__main__":
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    recogniser = Recogniser(folder, sys.argv[3] if len(sys.argv) > 3 else "")
    measure(recogniser, "held-out sentences, seen voices", load([DATA + "/held_sentences"]), count)
    measure(recogniser, "held-out sentences, unseen voices", load([DATA + "/held_voices"]), count)
    measure_silence(recogniser)
