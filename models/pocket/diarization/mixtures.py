"""Makes training data of up to three voices, with a class for each frame.

The segmentation model reads ten seconds. LENGTH is another length in seconds, for other models.
"""
import os
import pickle
import random

import numpy as np

RATE, SECONDS = 16000, int(os.environ.get("LENGTH", 10))
SAMPLES = RATE * SECONDS
NOISE = SECONDS + 14  # the length of a noise in seconds
FRAMES = (SAMPLES - 721) // 270  # 589 frames in ten seconds; the centre of frame i is the sample 495 + 270 i
CENTRES = 495 + 270 * np.arange(FRAMES)
PLAIN = 0.5  # the share of conversations without overlaps; most of these have no noise and no echo
# The classes: no speaker talks, one of the three speakers talks alone, or two of them talk.
CLASSES = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]


def noises(n):
    out, f = [], np.fft.rfftfreq(RATE * NOISE, 1 / RATE)
    for i in range(24):
        spectrum = np.fft.rfft(n.randn(RATE * NOISE)) / np.maximum(f, 40) ** [0, 0.5, 1.0, 1.4, 0.8, 0.7][i % 6]
        if i % 6 == 4:
            spectrum *= np.exp(np.interp(f, np.linspace(0, 8000, 12), n.randn(12) * 1.2))
        x = np.fft.irfft(spectrum)
        if i % 6 == 5:  # noise of changing loudness, with the hum of a power line
            t, changes = np.arange(len(x)) / RATE, np.arange(0, NOISE + 1, 0.3)
            x = x / x.std() * (1 + 0.6 * np.interp(t, changes, n.randn(len(changes))))
            x = x + 1.2 * sum(np.sin(2 * np.pi * 50 * h * t + h) / h for h in (1, 2, 3, 5))
        out.append((x / x.std()).astype(np.float32))
    return out


class Mixtures:
    def __init__(self, path, split, seed):
        pool = pickle.load(open(path, "rb"))
        self.voices = [p for p in pool if p["split"] == split]
        for i, voice in enumerate(self.voices):
            voice["number"] = i
        self.kinds = {k: [v for v in self.voices if v["kind"] == k] for k in ("espeak", "natural", "reader")}
        self.r, self.n = random.Random(seed), np.random.RandomState(seed)
        self.noises = noises(self.n)

    def speakers(self, count):
        kind = self.r.choices(list(self.kinds), (0.42, 0.33, 0.25))[0]
        chosen, tries = [], 0
        while len(chosen) < count:
            mixed = self.r.random() < 0.2
            voice = self.r.choice(self.kinds[self.r.choice(list(self.kinds)) if mixed else kind])
            tries += 1
            if tries > 50 or all(voice["base"] != c["base"] for c in chosen):
                chosen.append(voice)
        return chosen

    def piece(self, voice, seconds):
        """Returns about `seconds` of a voice, with its speech flags. If possible, the sound ends in a pause."""
        r, i = self.r, self.r.randrange(len(voice["utterances"]))
        x, flags = voice["utterances"][i], voice["speech"][i]
        count = int(seconds * 100)
        a, b = 0, len(flags)
        if b > count + 10:
            a = r.choice([0, r.randint(0, b - count)])
            b = min(b, a + count)
            b = next((k for k in range(b, min(len(flags), b + 40)) if not flags[k]), b)
            a = next((k for k in range(a, max(0, a - 40), -1) if not flags[k]), a)
        x = x[a * 160 : b * 160].astype(np.float32) / 32768
        edge = min(160, len(x) // 2)
        ramp = np.linspace(0, 1, edge)
        x[:edge] *= ramp
        x[len(x) - edge :] *= ramp[::-1]
        return x, flags[a:b]

    def talk(self, count, plain=False):
        """Returns samples, activity [count, 10 ms] and voices. `plain`: no overlaps, and all voices are equally loud."""
        r = self.r
        x, active = np.zeros(SAMPLES, np.float32), np.zeros((max(count, 1), SAMPLES // 160), bool)
        if not count:
            return x, active, []
        voices, spread = self.speakers(count), r.choice((2, 3.5, 3.5, 7))
        gain = [10 ** (max(-16, r.gauss(0, spread)) / 20) for _ in voices]
        overlap = 0.0 if r.random() < 0.25 else r.uniform(0.1, 0.7)
        pause, stay, short = r.uniform(0, 0.35), r.uniform(0.05, 0.6), r.uniform(0.05, 0.5)
        everyone = count == 3 and r.random() < 0.6  # each of the three speaks before anyone speaks twice
        if everyone:
            overlap, pause, stay, short = overlap * 0.3, pause * 0.3, stay * 0.3, short * 0.5
        if plain:
            gain, overlap, pause, stay, short, everyone = [1.0] * count, 0.0, 0.1, 0.25, 0.1, False
        t = -r.random() * 2.5 if r.random() < 0.7 else r.random() * 3
        now, ends, heard = r.randrange(count), [t] * count, set()
        while t < SECONDS:
            heard.add(now)
            seconds = r.uniform(0.35, 1.2) if r.random() < short else r.uniform(1.2, 3.8 if everyone else 6)
            speech, flags = self.piece(voices[now], seconds)
            speech = speech * gain[now] * 10 ** (r.gauss(0, 1) / 20)
            a, b = int(t * 100), int(t * 100) + len(flags)
            low, high = max(a, 0), min(b, SAMPLES // 160)
            if high > low:
                x[low * 160 : high * 160] += speech[(low - a) * 160 : (high - a) * 160]
                active[now, low:high] |= flags[low - a : high - a]
            last, ends[now] = now, b / 100
            if count > 1 and r.random() > stay:
                now = r.choice([i for i in range(count)
                                if i != now and not (everyone and len(heard) < count and i in heard)])
            kind = r.random()
            if now != last and kind < overlap:
                t = max(b / 100 - r.uniform(0.15, 1.8), t + 0.2)
            elif kind < overlap + pause:
                t = b / 100 + r.uniform(0.6, 3)
            else:
                t = b / 100 + r.expovariate(3.0)
            others = sorted(ends[i] for i in range(count) if i != now)
            t = max(t, ends[now] + 0.02, others[-2] if len(others) > 1 else -99)  # three voices never talk at the same time
        return x, active, voices

    def recorded(self, x, spoken):
        """Changes the sound at random, as a room, a microphone, noise, a telephone and another level would."""
        r, n = self.r, self.n
        if spoken and r.random() < 0.5:
            spectrum = np.fft.rfft(x, SAMPLES + 8000)
            f = np.linspace(0, 8000, len(spectrum))
            if r.random() < 0.7:
                ring = r.uniform(0.08, 0.6)
                echo = n.randn(int(min(0.5, ring * 1.2) * RATE))
                echo *= np.exp(-6.9 * np.arange(len(echo)) / (ring * RATE))
                echo[: int(0.003 * RATE)] *= 0.3
                echo *= r.uniform(0.15, 1.3) / np.sqrt((echo ** 2).sum())
                echo[0] += 1
                spectrum *= np.fft.rfft(echo, SAMPLES + 8000)
            if r.random() < 0.7:
                spectrum *= 10 ** (np.interp(f, np.linspace(0, 8000, 9), n.randn(9) * 4) / 20)
            x = np.fft.irfft(spectrum)[:SAMPLES].astype(np.float32)
        if r.random() < 0.85:
            noise = r.choice(self.noises)
            a = r.randrange(len(noise) - SAMPLES)
            power = np.sqrt((x ** 2).mean()) if spoken else 0.02
            x = x + noise[a : a + SAMPLES] * power * 10 ** (-r.uniform(3 if r.random() < 0.3 else 12, 45) / 20)
        if spoken and r.random() < 0.2:  # telephone
            spectrum = np.fft.rfft(x)
            f = np.linspace(0, 8000, len(spectrum))
            spectrum *= 1 / (1 + np.exp(np.clip((f - r.uniform(3300, 3980)) / r.uniform(20, 250) * 4, -40, 40)))
            spectrum *= np.minimum(1, f / r.uniform(60, 340)) ** r.uniform(2, 8)
            x = np.fft.irfft(spectrum).astype(np.float32)
            x = np.round(x * r.uniform(0.05, 0.6) / (np.abs(x).max() + 1e-6) * 32767) / 32767
        x = x * 10 ** (r.uniform(-34, 3) / 20)
        return (x / max(1, np.abs(x).max())).astype(np.float32)

    def mixture(self, count=None, plain=None):
        """Returns the samples, the class of each frame, and the numbers of the three speakers.

        The speakers are in the order in which they begin to talk. A missing speaker has the number -1."""
        r = self.r
        plain = r.random() < PLAIN if plain is None else plain
        if count is None:
            count = r.choices((0, 1, 2, 3), (0.02, 0.12, 0.36, 0.5) if plain else (0.02, 0.12, 0.26, 0.6))[0]
        x, active, voices = self.talk(count, plain)
        x = x * 10 ** (r.uniform(-20, 3) / 20) if plain and r.random() < 0.6 else self.recorded(x, count > 0)
        if r.random() < 0.06:  # the file ends inside the window
            k = r.randint(SAMPLES // 5, SAMPLES - RATE)
            x[k:] = 0
            active[:, k // 160 :] = False
        order = sorted(range(len(active)), key=lambda i: active[i].argmax() if active[i].any() else 99999)
        numbers = [voices[i]["number"] for i in order] if voices else []
        active = active[order][:, np.minimum(CENTRES // 160, SAMPLES // 160 - 1)]
        active = np.concatenate([active, np.zeros((3 - len(active), FRAMES), bool)])
        classes = np.zeros(FRAMES, np.int64)
        for i in range(FRAMES):
            classes[i] = CLASSES.index(tuple(np.flatnonzero(active[:, i])[:2]))
        return x, classes, numbers + [-1] * (3 - len(numbers))
