"""Makes windows of conversations in the conditions in which people record them: quiet, noise, a telephone, a room.

The truth is the energy of each voice before it gets a background, an echo or another voice. So speech that is covered by
noise is still speech.
LENGTH (see mixtures.py) must be 30.
"""
import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import fftconvolve

from mixtures import RATE, SAMPLES, SECONDS, Mixtures
from pool import low_pass, speech_flags

CONDITIONS = ("quiet", "noise", "telephone", "room")
SHARES = (0.28, 0.32, 0.32, 0.08)
LEVEL = 0.07  # the root mean square of the speech of each piece


def spans_of(flags):
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return list(zip(edges[::2], edges[1::2]))


def level(x):
    """Returns the root mean square of the sound without digital silence."""
    heard = x[np.abs(x) > 1e-4]
    return np.sqrt((heard ** 2).mean()) if len(heard) > RATE // 2 else 0.05


def decibels(value):
    return 10 ** (value / 20)


def shaped(x, curve):
    """Multiplies the spectrum of the sound by curve(hertz)."""
    size = next_fast_len(len(x), True)
    spectrum = rfft(x, size)
    return irfft(spectrum * curve(np.linspace(0, RATE / 2, len(spectrum), dtype=np.float32)), size)[: len(x)]


def coded(x):
    """Returns the sound after a telephone's 8-bit µ-law code."""
    code = np.round(127 * np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256))
    return np.sign(code) * (256 ** (np.abs(code) / 127) - 1) / 255


class Conditions(Mixtures):
    def __init__(self, path, split, seed):
        super().__init__(path, split, seed)
        self.rooms = self.room_noises()
        self.shares = dict(zip(self.kinds, (0.2, 0.2, 0.6)))

    def room_noises(self):
        """Returns noises of 40 real rooms. Each has the spectrum of a pause of one reader, and random phases."""
        out = []
        for voice in self.kinds["reader"]:
            x, flags = voice["utterances"][0], voice["speech"][0]
            gaps = [(a + 4, b - 4) for a, b in spans_of(~flags) if b - a >= 30]
            if not gaps or not voice["name"].endswith(":1.0") or len(out) == 40:
                continue
            a, b = max(gaps, key=lambda gap: gap[1] - gap[0])
            pause = x[a * 160 : b * 160].astype(np.float32)
            if pause.std() < 2:
                continue
            spectrum = np.convolve(np.abs(np.fft.rfft(pause * np.hanning(len(pause)), 8192)), np.ones(9) / 9, "same")
            size = SAMPLES + 14 * RATE
            full = np.interp(np.linspace(0, 1, size // 2 + 1), np.linspace(0, 1, len(spectrum)), spectrum)
            noise = np.fft.irfft(full * np.exp(2j * np.pi * self.n.rand(len(full))), size)
            out.append((noise / noise.std()).astype(np.float32))
        return out

    def speakers(self, count):
        kind = self.r.choices(list(self.shares), list(self.shares.values()))[0]
        chosen, tries = [], 0
        while len(chosen) < count:
            mixed = self.r.random() < 0.15
            voice = self.r.choice(self.kinds[self.r.choice(list(self.kinds)) if mixed else kind])
            tries += 1
            if tries > 50 or all(voice["base"] != other["base"] for other in chosen):
                chosen.append(voice)
        return chosen

    def piece(self, voice, seconds):
        """Returns about `seconds` of a voice with its speech flags, from the end of one pause to the start of another.

        Most pieces get another microphone, a background and an echo of their own. The flags are those of the sound before
        these changes."""
        r = self.r
        i = r.randrange(len(voice["utterances"]))
        x, flags = voice["utterances"][i], voice["speech"][i]
        spans = spans_of(flags)
        start = r.randrange(len(spans)) if r.random() < 0.6 else 0
        a = spans[start][0]
        b = next((end for _, end in spans[start:] if end >= a + 70 * seconds), spans[-1][1])
        if b > a + 160 * seconds or b - a > 950:  # no pause in time: the piece ends inside a word
            b = a + int(100 * min(seconds, 9))
        a, b = max(0, a - 3), min(len(flags), b + 4 + r.choice((0, 0, 10)))
        x = x[a * 160 : b * 160].astype(np.float32) / 32768
        flags = speech_flags(x)
        x = self.as_recorded(x)
        if flags.any():
            x = x * (LEVEL / np.sqrt((x[: len(flags) * 160].reshape(-1, 160)[flags] ** 2).mean() + 1e-9))
        edge = min(80, len(x) // 2)
        ramp = np.linspace(0, 1, edge)
        x[:edge] *= ramp
        x[len(x) - edge :] *= ramp[::-1]
        return x.astype(np.float32), flags

    def as_recorded(self, x):
        r = self.r
        if r.random() < 0.7:
            points = decibels(self.n.randn(9) * r.uniform(0, 5))
            x = shaped(x, lambda f: np.interp(f, np.linspace(0, 8000, 9), points)).astype(np.float32)
            if r.random() < 0.7:
                noise = r.choice(self.rooms if r.random() < 0.6 else self.noises)
                at = r.randrange(len(noise) - len(x)) if len(noise) > len(x) else 0
                noise = noise[at : at + len(x)]
                if r.random() < 0.5:  # a background that rises and falls
                    steps = np.arange(0, len(noise) + RATE, int(RATE * r.uniform(0.1, 0.5)))
                    changes = np.interp(np.arange(len(noise)), steps, self.n.randn(len(steps)) * r.uniform(2, 8))
                    noise = noise * decibels(changes).astype(np.float32)
                below = r.uniform(14, 60) if r.random() < 0.5 else r.uniform(22, 40)
                x = x + noise * level(x) * decibels(-below)
        return self.echo(x, r.uniform(0.1, 0.9)).astype(np.float32) if r.random() < 0.35 else x

    def turns(self, count):
        """Returns a part of a conversation: samples, activity [count, 10 ms] and voices.

        It has whole turns and pauses of 0.1 to 3 s. Up to half of the turns overlap with the turn before."""
        r = self.r
        x, active = np.zeros(SAMPLES, np.float32), np.zeros((count, SAMPLES // 160), bool)
        voices, share = self.speakers(count), r.choice((0, 0.1, 0.25, 0.25, 0.4, 0.5))
        spread = r.choice((0, 0, 1.5, 3))
        gain = [decibels(r.gauss(0, spread)) for _ in voices]
        longest = r.choice((9, 9, 5, 3))
        t, now, ends = -r.random() * 6, r.randrange(count), [-99.0] * count
        while t < SECONDS:
            speech, flags = self.piece(voices[now], r.uniform(1.2, longest))
            a, b = int(t * 100), int(t * 100) + len(flags)
            low, high = max(a, 0), min(b, SAMPLES // 160)
            if high > low:
                x[low * 160 : high * 160] += gain[now] * speech[(low - a) * 160 : (high - a) * 160]
                active[now, low:high] |= flags[low - a : high - a]
            last, ends[now] = now, b / 100
            overlaps = r.random() < share
            others = [i for i in range(count) if i != now]
            if others and (overlaps or r.random() < 0.85):
                now = r.choice(others)
            if overlaps and now != last:
                after = b / 100 - 0.2 - 1.4 * r.random()
            else:
                after = b / 100 + (0.1 + r.random() if r.random() < 0.9 else r.uniform(1, 3))
            before = sorted(ends[i] for i in range(count) if i != now)
            # Three voices never talk at once.
            t = max(after, t + 0.6, ends[now] + 0.02, before[-2] if len(before) > 1 else -99)
        return x, active, voices

    def noise(self, size):
        r = self.r
        kind = r.random()
        if kind < 0.12:  # babble of four to six other voices
            noise = np.zeros(SAMPLES, np.float32)
            for _ in range(r.randint(4, 6)):
                sound = r.choice(r.choice(self.kinds["reader"])["utterances"])
                noise += np.roll(np.resize(sound, SAMPLES), r.randrange(SAMPLES)) / np.float32(3000)
            return noise * np.float32(size * 0.7 / max(1e-3, noise.std()))
        noise = r.choice(self.rooms if kind < 0.3 else self.noises)
        start = r.randrange(len(noise) - SAMPLES)
        return noise[start : start + SAMPLES] * np.float32(size)

    def pink(self, size):
        f = np.fft.rfftfreq(SAMPLES, 1 / RATE)
        x = np.fft.irfft(np.fft.rfft(self.n.randn(SAMPLES)) / np.maximum(f, 8) ** 0.5, SAMPLES)
        return x / x.std() * size

    def echo(self, x, gain):
        ring = self.r.uniform(0.08, 0.6)
        echo = self.n.randn(int(min(0.5, ring * 1.2) * RATE))
        echo *= np.exp(-6.9 * np.arange(len(echo)) / (ring * RATE))
        echo[: int(0.003 * RATE)] *= 0.3
        echo *= gain / np.sqrt((echo ** 2).sum())
        echo[0] += 1
        return fftconvolve(x, echo)[: len(x)]

    def room(self, x):
        r = self.r
        x = self.echo(x, r.uniform(0.15, 1.3)).astype(np.float32)
        if r.random() < 0.7:
            points = decibels(self.n.randn(9) * 4)
            x = shaped(x, lambda f: np.interp(f, np.linspace(0, 8000, 9), points)).astype(np.float32)
        return x + self.noise(level(x) * decibels(-r.uniform(12, 45))) if r.random() < 0.8 else x

    def telephone(self, x):
        """A band of 300 to 3400 Hz or a wider one, noise before and after it, and samples of 8 bits by µ-law."""
        r = self.r
        if r.random() < 0.85:
            x = x + self.noise(level(x) * decibels(-r.uniform(15, 45)))
        high, low = (3400, 300) if r.random() < 0.3 else (r.uniform(3100, 3950), r.uniform(60, 350))
        steep, soft, power = r.uniform(8, 250), r.uniform(8, 60), r.uniform(2, 8)
        if r.random() < 0.6:
            rise = lambda f: 1 / (1 + np.exp(np.clip((low - f) / soft * 4, -40, 40)))
        else:
            rise = lambda f: np.minimum(1, f / low) ** power
        x = shaped(x, lambda f: rise(f) / (1 + np.exp(np.clip((f - high) / steep * 4, -40, 40))))
        if r.random() < 0.75:
            x = coded(np.clip(x * decibels(r.uniform(-12, 8)), -1, 1))
        else:
            x = np.round(x * r.uniform(0.05, 0.6) / (np.abs(x).max() + 1e-6) * 32767) / 32767
        return x + self.noise(level(x) * decibels(-r.uniform(30, 60))) if r.random() < 0.3 else x

    def window(self):
        """Returns the condition, the samples, the speakers in each 10 ms, and the voices of the speakers.

        The speakers of 10 ms are a bit set, and each voice is a number. A third of the windows with noise or a telephone
        is made as in scripts/bench/support/conversations.ts."""
        r = self.r
        count = r.choices((0, 1, 2, 3), (0.01, 0.12, 0.47, 0.4))[0]
        condition = r.choices(CONDITIONS, SHARES)[0]
        x, active, voices = self.turns(count) if count and r.random() < 0.75 else self.talk(count, r.random() < 0.4)
        as_bench = r.random() < 0.35
        if not count:
            x = x + self.noise(0.02)
        if condition == "noise" and as_bench:
            x = x + self.pink(LEVEL * decibels(-r.uniform(8, 20)))
        elif condition == "noise":
            x = x + self.noise(level(x) * decibels(-r.uniform(5, 27)))
        elif condition == "telephone" and as_bench:
            low = low_pass(x + self.pink(LEVEL * decibels(-r.uniform(20, 40))), 3400)
            x = coded(np.clip(2 * (low - low_pass(low, 300)), -1, 1)) / 2
        elif condition == "telephone":
            x = self.telephone(x)
        elif condition == "room":
            x = self.room(x)
        if not as_bench:
            x = x * decibels(r.uniform(-27, 3))
        x = (x / max(1, np.abs(x).max())).astype(np.float32)
        start, end = self.cut(active.sum(0))
        speakers = sum(own.astype(np.uint8) << number for number, own in enumerate(active))
        return condition, x[start * 160 : end * 160], speakers[start:end], [voice["number"] for voice in voices]

    def cut(self, voices):
        """Returns the start and the end of a window of 2 to 30 s. Most windows begin and end in a pause, as steno's do."""
        r = self.r
        pauses = np.flatnonzero(np.convolve(voices > 0, np.ones(20), "same") == 0)

        def near(at, low, high):
            found = [k for k in pauses if low <= k <= high]
            return min(found, key=lambda k: abs(k - at)) if found and r.random() < 0.75 else at

        start = near(r.randint(0, 400), 0, 900)
        length = r.uniform(2200, 3000) if r.random() < 0.5 else r.uniform(300, 2400)
        end = near(int(min(start + length, 3000)), start + 200, 3000)
        return start - start % 2, end - end % 2
