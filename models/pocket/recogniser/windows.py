"""Makes the training windows: sentences with pauses, noise and the sound of a channel, and the tokens of Whisper.

A window of less than 30 s is faster to train, and counts as a part of a full window. The offset of the window says where
this part begins, and the model uses the positions from there. So the model learns all time tokens from short windows.
"""
import math
import pickle
import random

import numpy as np
import torch

import tokens as T
from sentences import LANGUAGES

RATE, FRAME = 16000, 0.02
SHARE = dict(en=0.62, de=0.13, es=0.12, fr=0.13)


def plain(word):
    return word.strip(".,?!¿¡").lower()


class Vocabulary:
    """The token ids that the model can output. Each of them has a row. All other tokens share the last row."""

    def __init__(self, tokenizer, rows):
        said, self.phones, self.words = set(), {}, {}
        for row in rows:
            for word in row["text"].split(" "):
                said.update(tokenizer.encode(" " + word))
            for name, _, _ in row["phones"]:
                self.phones.setdefault(name, len(self.phones) + 1)
            for word, _, _ in row["words"]:
                self.words.setdefault((row["lang"], plain(word)), len(self.words) + 1)
        special = [T.EOT, T.SOT, *(tokenizer.language(l) for l in LANGUAGES), T.TRANSLATE, T.TRANSCRIBE, T.PREVIOUS,
                   T.NO_SPEECH, T.NO_TIMES]
        self.ids = sorted(said) + special + list(range(T.TIME, T.TIME + T.STAMPS))
        self.row = {i: n for n, i in enumerate(self.ids)}
        self.unused = len(self.ids)
        self.stamps = self.row[T.TIME]


def load(names):
    shelves = []
    for name in names:
        samples = np.load(name + ".npy")
        shelves += [(samples, row) for row in pickle.load(open(name + ".pkl", "rb"))]
    return shelves


class Windows:
    def __init__(self, tokenizer, vocabulary, shelves, seed):
        self.tokenizer, self.vocabulary = tokenizer, vocabulary
        self.r, self.n = random.Random(seed), np.random.RandomState(seed)
        self.by_lang = {l: [s for s in shelves if s[1]["lang"] == l] for l in LANGUAGES}
        self.by_voice = {}
        for s in shelves:
            self.by_voice.setdefault((s[1]["lang"], s[1]["voice"]), []).append(s)
        self.noises = [self.make_noise(40 * RATE) for _ in range(40)]  # made once, because making noise takes longer than reading it
        self.musics = [self.make_tones(40 * RATE) for _ in range(60)]
        self.voices = {l: [v for v in self.by_voice if v[0] == l and len(self.by_voice[v]) > 3] for l in LANGUAGES}

    # ---- sound

    def noise(self, n):
        return self.piece(self.noises, n)

    def tones(self, n):
        return self.piece(self.musics, n)

    def piece(self, shelf, n):
        z = self.r.choice(shelf)
        a = self.r.randrange(len(z) - n)
        return z[a : a + n]

    def make_noise(self, n):
        """Returns noise of random colour with the power 1. Some noises also have tones."""
        spectrum = np.fft.rfft(self.n.randn(n))
        if self.r.random() < 0.6:
            spectrum *= (np.arange(len(spectrum)) + 20.0) ** -self.r.uniform(0, 1)
        z = np.fft.irfft(spectrum, n)
        z /= z.std() + 1e-9
        if self.r.random() < 0.15:
            z = 0.3 * z + self.make_tones(n)
        return z.astype(np.float32)

    def make_tones(self, n):
        """Returns a sound like simple music: a few constant, interrupted or decaying notes, some with overtones."""
        r, t = self.r, np.arange(n) / RATE
        z = np.zeros(n)
        for _ in range(r.randint(1, 5)):
            pitch, beat, phase = r.uniform(60, 1500), r.uniform(0.3, 4), r.random() * 6
            overtones = r.choice([1, 1, 2, 4, 6])
            note = sum(np.sin(2 * np.pi * pitch * k * t + k * phase) / k for k in range(1, overtones + 1) if pitch * k < 7800)
            shape = r.random()
            if shape < 0.35:
                note = note * (np.sin(2 * np.pi * beat * t + phase) > r.uniform(-0.5, 0.7))
            elif shape < 0.7:
                note = note * np.exp(-((t * beat + phase) % 1) * r.uniform(1, 8))
            z += note * r.uniform(0.3, 1)
        return (z / (z.std() + 1e-9)).astype(np.float32)

    def no_speech(self, n):
        kind = self.r.random()
        if kind < 0.25:
            return np.zeros(n, np.float32)
        z = (self.noise(n) if kind < 0.6 else self.tones(n)).copy()
        if self.r.random() < 0.3:  # the sound begins and ends inside the window
            a, b = sorted(self.r.sample(range(n), 2))
            z[:a] = 0
            z[b:] = 0
        if kind > 0.9:
            z = z + self.noise(n) * self.r.uniform(0.05, 0.5)
        return (z * 10 ** (-self.r.uniform(12, 70) / 20)).astype(np.float32)

    def channel(self, x):
        """Changes some sounds as a telephone, a dull microphone or another microphone would."""
        r, kind = self.r, self.r.random()
        if kind > 0.3:
            return x
        spectrum = np.fft.rfft(x)
        f = np.linspace(0, 8000, len(spectrum))
        if kind < 0.1:
            spectrum *= 1 / (1 + (f / r.uniform(3200, 3900)) ** 16)
            if r.random() < 0.5:
                spectrum *= np.minimum(1, f / r.uniform(100, 300)) ** 2
        elif kind < 0.15:
            spectrum *= 1 / (1 + (f / r.uniform(3500, 7500)) ** 8)
        else:
            spectrum *= 10 ** (np.interp(f, np.linspace(0, 8000, 7), self.n.randn(7) * 4) / 20)
        return np.fft.irfft(spectrum, len(x)).astype(np.float32)

    def compose(self, seconds):
        """Returns the samples, the sentences and the language of a random window.

        A sentence is a dict: `words` has the words to write, `phones` has the phones, and `heard` has all words of
        which at least a part is in the window."""
        r, n = self.r, int(seconds * RATE)
        lang = r.choices(LANGUAGES, [SHARE[l] for l in LANGUAGES])[0]
        if r.random() < 0.1:
            return self.no_speech(n), [], lang
        x = np.zeros(n, np.float32)
        whole = seconds > 6
        until = seconds * r.choice([0.1, 0.25, 0.5, 1, 1] if whole else [0.5, 1, 1])
        pace = r.choice(["brisk", "easy", "easy", "slow"])
        one_voice = self.by_voice[r.choice(self.voices[lang])] if r.random() < 0.5 else None
        gain = r.uniform(0.15, 1.6)
        kind = r.random()
        t = 0.0 if kind < 0.2 else r.uniform(0, 0.6) if kind < 0.85 else r.uniform(0, seconds * 0.3)
        sentences = []
        while t < min(until, seconds - 0.25):
            samples, row = r.choice(one_voice or self.by_lang[lang])
            speech = np.array(samples[row["at"] : row["at"] + row["length"]], np.float32) / 32768
            words, phones = row["words"], row["phones"]
            if r.random() < 0.35:  # plays the speech faster or slower, which changes its tempo, pitch and formants
                speed = r.uniform(0.86, 1.16)
                count = int(len(speech) / speed)
                speech = np.interp(np.arange(count) * speed, np.arange(len(speech)), speech).astype(np.float32)
                words, phones = ([(w, a / speed, b / speed) for w, a, b in l] for l in (words, phones))
            cut = 0.0
            if not sentences and t == 0 and r.random() < 0.15:  # the window begins inside a sentence
                cut = r.uniform(0, 0.7) * len(speech) / RATE
            speech = speech[int(cut * RATE) :] * gain * r.uniform(0.7, 1.3)
            if seconds < 30 and t + len(speech) / RATE > seconds and sentences and r.random() < 0.6:
                break
            i = int(t * RATE)
            e = min(n, i + len(speech))
            x[i:e] += speech[: e - i]
            moved = lambda spans: [(w, max(0.0, t + a - cut), t + b - cut) for w, a, b in spans if b > cut]
            said = [(w, max(t, t + a - cut), t + b - cut) for w, a, b in words if a - cut >= -0.3 * (b - a)]
            if said:
                sentences.append(dict(words=said, phones=moved(phones), heard=moved(words)))
            t += len(speech) / RATE
            t += dict(brisk=r.uniform(0.05, 0.35), easy=r.uniform(0.2, 0.9),
                      slow=r.uniform(0.5, 2) if r.random() < 0.6 else r.uniform(2, 9))[pace]
        x = self.channel(x)
        end = max([w[2] for s in sentences for w in s["words"]] + [0]) + 0.15
        kind = r.random()
        if kind < 0.5:
            x += self.noise(n) * (gain * 0.1 * 10 ** (-r.uniform(6, 60) / 20))
        if kind < 0.4 and end + 0.5 < seconds:  # zeros follow after the end of the recording, as in a padded clip
            x[int(min(end + r.random(), seconds) * RATE) :] = 0
        return x, sentences, lang

    # ---- tokens

    def tokens(self, seconds, offset, sentences, lang, prompted, timed):
        """Returns the tokens as rows, the span of each token, the index of SOT, and the replaced inputs.

        A span is the start and the end of the token's sound in seconds, or None for a token without sound."""
        r, row, encode = self.r, self.vocabulary.row, self.tokenizer.encode
        stamp = lambda t: row[T.TIME + min(1500, max(0, round(t / FRAME) + offset))]
        before = []
        if prompted:
            for _ in range(r.choice([1, 1, 1, 2, 2, 3, 8, 16])):
                before += encode(" " + r.choice(self.by_lang[lang])[1]["text"])
            if r.random() < 0.3:
                before = before[r.randint(0, 5) :]
            before = [row[T.PREVIOUS]] + [row[i] for i in before][-223:]
        task = T.TRANSLATE if lang == "en" and r.random() < 0.03 else T.TRANSCRIBE
        out = before + [row[T.SOT], row[self.tokenizer.language(lang)], row[task]] + ([] if timed else [row[T.NO_TIMES]])
        spans = [None] * len(out)
        replaced = {}

        def say(token, span):
            out.append(token)
            spans.append(span)

        at_end = offset + round(seconds / FRAME) >= 1500  # a sentence that continues after 30 s is left to the next window
        for s in sentences:
            words, start, end = s["words"], s["words"][0][1], s["words"][-1][2]
            fits = end <= seconds + 0.02
            if timed:
                if start > seconds - 0.1:
                    break
                if len(out) == len(before) + 3 and start / FRAME + offset > 50 and r.random() < 0.5:
                    replaced[len(out)] = row[T.TIME + r.randint(0, 50)]  # decoders limit the first time to one second
                say(stamp(start), (start - 0.04, start + 0.1))
                if not fits and at_end:
                    break
            for word, a, b in words:
                if b > seconds and (seconds - a) / (b - a) < 0.75:
                    break
                ids = encode(" " + word)
                core = len(encode(" " + word.rstrip(".,?!")))
                sizes = [len(self.tokenizer.bytes[i]) for i in ids[:core]]
                done = 0
                for i, size in zip(ids[:core], sizes):
                    p, q = (a + (b - a) * k / sum(sizes) for k in (done, done + size))
                    done += size
                    say(row[i], (p, max(q, p + 0.06)))
                for i in ids[core:]:
                    say(row[i], (b - 0.08, b + 0.04))
            if not fits:
                break
            if timed:
                say(stamp(end), (end - 0.1, end + 0.06))
        if not sentences:  # the end token cannot be first; a single time token then means no text
            say(stamp(0) if r.random() < 0.5 else row[T.TIME], None)
        say(row[T.EOT], None)
        return out, spans, len(before), replaced

    def batch(self, size, seconds, mel):
        """Returns a batch of `size` windows. Each window has two lists of tokens: one with times, and one without.

        Two lists save time, because the encoder costs more than the decoder and runs only once for each window."""
        frames = int(seconds / FRAME)
        windows, items = [], []
        prompted = self.r.random() < 0.17  # all windows have a prompt, or none: a single long prompt would add padding to all
        for _ in range(size):
            x, sentences, lang = self.compose(seconds)
            offset = self.r.choice([0, 1500 - frames, self.r.randint(0, 1500 - frames)]) if frames < 1500 else 0
            windows.append((x, sentences, lang, offset))
            items += [(sentences, *self.tokens(seconds, offset, sentences, lang, prompted, timed)) for timed in (True, False)]
        length = max(len(i[1]) for i in items) - 1
        vocabulary = self.vocabulary
        inputs = torch.full((len(items), length), vocabulary.row[T.EOT])
        targets = torch.full((len(items), length), -1)
        phones, words = (torch.zeros(size, frames, dtype=torch.long) for _ in range(2))
        saying, heard = (torch.zeros(len(items), length, frames, dtype=torch.bool) for _ in range(2))
        clip = lambda a, b: (max(0, int(a / FRAME)), min(frames, max(int(a / FRAME) + 1, math.ceil(b / FRAME))))
        for b, (sentences, out, spans, sot, replaced) in enumerate(items):
            row = torch.tensor(out)
            inputs[b, : len(out) - 1] = row[:-1]
            targets[b, sot : len(out) - 1] = row[sot + 1 :]
            if not sentences:
                targets[b, sot] = vocabulary.row[T.NO_SPEECH]
            for i, token in replaced.items():
                inputs[b, i] = token
            for i, span in enumerate(spans):
                if span and i:
                    first, last = clip(*span)
                    saying[b, i - 1, first:last] = True  # the position that predicts the token
                    if i < length:
                        heard[b, i, first:last] = True  # the position that has the token as input
        for b, (_, sentences, lang, _) in enumerate(windows):
            for s in sentences:
                for name, a, e in s["phones"]:
                    phones[b, int(a / FRAME) : int(e / FRAME)] = vocabulary.phones[name]
                for word, a, e in s["heard"]:
                    words[b, int(a / FRAME) : int(e / FRAME)] = vocabulary.words[lang, plain(word)]
        mels = mel(torch.from_numpy(np.stack([w[0] for w in windows])))
        for b, (_, sentences, _, _) in enumerate(windows):  # some programs pad the spectrogram, and not the sound
            end = max([w[2] for s in sentences for w in s["words"]] + [0]) + 0.3
            if self.r.random() < 0.15 and sentences and end < seconds:
                mels[b, :, int(self.r.uniform(end, seconds) * 100) :] = 0
        return dict(mel=mels, offsets=[w[3] for w in windows], inputs=inputs, targets=targets, phones=phones, words=words,
                    saying=saying, heard=heard)
