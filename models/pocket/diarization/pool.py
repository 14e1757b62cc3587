"""Builds the pool of voices for the training and the tests of both diarization models: python pool.py OUT.pkl

The pool has synthetic voices from espeak-ng, flite and festival, and five readers of LibriSpeech (CC BY 4.0): three for
training, two for tests. LIBRISPEECH names the folder of these readers. A voice that is played faster or slower counts
as another voice, because its pitch and its formants change. Every utterance has 16-bit samples at 16 kHz, and a flag
for each 10 ms that says whether it is speech. The recordings in the folder OTHERS are used only in tests: NAME.wav, and
also NAME.rttm if several people talk.
"""
import glob
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np
from scipy.signal import fftconvolve, resample_poly

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recogniser"))
from sentences import LANGUAGES, sentence
from voices import HELD

RATE = 16000
LIBRISPEECH, OTHERS = os.environ.get("LIBRISPEECH", "librispeech"), os.environ.get("OTHERS")
HELD_ESPEAK = HELD + "f4 m3 max Gene antonio Alicia".split()
SKIPPED = "fast whisper whisperf UniRobot anikaRobot Demonic croak".split() + ["Mr serious"]
HELD_READERS = ["2033", "2414"]
ACCENTS = [("en-us", "en"), ("en-us", "en"), ("en-gb-scotland", "en"), ("en-gb-x-rp", "en"), ("de", "de"), ("fr-fr", "fr"),
           ("es", "es"), ("it", "es"), ("pt-br", "es"), ("nl", "de"), ("pl", "es"), ("sv", "de"), ("ro", "es"), ("fi", "es")]
FLITE = dict(kal="train", kal16="train", rms="train", awb="test", slt="test")
FESTIVAL = dict(pc_diphone="train", upc_ca_ona_hts="train", czech_ph="train", czech_krb="train", czech_machac="train",
                suo_fi_lj_diphone="train", hy_fi_mv_diphone="train", msu_ru_nsh_clunits="train",
                ked_diphone="test", lp_diphone="test", czech_dita="test")
SPEEDS = [1.0, 0.84, 0.91, 1.09, 1.19]


def decode(path):
    command = ["ffmpeg", "-v", "quiet", "-i", path, "-ac", "1", "-ar", str(RATE), "-f", "s16le", "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True).stdout, np.int16).astype(np.float32) / 32768


def low_pass(x, hertz):
    n, cut = np.arange(-127, 128), 2 * hertz / RATE
    return fftconvolve(x, (0.54 + 0.46 * np.cos(np.pi * n / 127)) * cut * np.sinc(cut * n), "same")


def speech_flags(x, below=32.0):
    """Returns for each 10 ms of sound whether it is speech.

    Only frequencies above 150 Hz count, because the hum and the rumble of a room can be as loud as a voice. Speech is at
    most `below` dB quieter than the loud parts, and more than 9 dB louder than the background. Sound that is less than
    12 dB quieter than the loud parts is always speech. First, sounds of less than 60 ms are removed. Then gaps of less
    than 250 ms become speech."""
    n = len(x) // 160
    if n < 5:
        return np.zeros(n, bool)
    high = x - low_pass(x, 150)
    energy = 10 * np.log10((high[: n * 160].reshape(n, 160) ** 2).mean(1) + 1e-10)
    energy = np.convolve(np.pad(energy, 2, mode="edge"), np.ones(5) / 5, "valid")
    loud, floor = np.percentile(energy, 95), np.percentile(energy, 5)
    flags = energy > max(loud - below, min(floor + 9, loud - 12))
    for value, shortest in ((True, 6), (False, 25)):
        edges = np.flatnonzero(np.diff(flags.astype(int))) + 1
        for a, b in zip(edges, edges[1:]):
            if flags[a] == value and b - a < shortest:
                flags[a:b] = not value
    return flags


def tidy(x):
    """Removes the silence at the ends, and scales the speech to one loudness. Returns None for less than 0.5 s of speech."""
    flags = speech_flags(x)
    said = np.flatnonzero(flags)
    if len(said) < 50:
        return None
    x = x[max(0, said[0] - 3) * 160 : (said[-1] + 4) * 160]
    flags = speech_flags(x)
    power = np.sqrt((x[: len(flags) * 160].reshape(-1, 160)[flags] ** 2).mean() + 1e-9)
    x = x * 0.07 / power
    return x * min(1, 0.98 / np.abs(x).max())


def faster(x, speed):
    if speed == 1:
        return x
    f = Fraction(1 / speed).limit_denominator(60)
    return resample_poly(x, f.numerator, f.denominator).astype(np.float32)


def pieces(x, r):
    """Cuts a long recording at pauses into pieces of 3 to 8 s."""
    flags, out, i = speech_flags(x, 35), [], 0
    while i < len(flags):
        if not flags[i]:
            i += 1
            continue
        j = min(len(flags), i + r.randint(300, 800))
        k = j
        while k < len(flags) and flags[k] and k < j + 150:
            k += 1
        out.append(x[i * 160 : k * 160])
        i = k
    return [p for p in out if len(p) > RATE]


def spoken_alone(path):
    """Returns (name, pieces of sound) for each voice of a recording. Overlapping speech of two voices is left out."""
    x, name = decode(path), os.path.basename(path)[:-4]
    if not os.path.exists(path[:-4] + ".rttm"):
        return [(name, [x])]
    turns = [l.split(" ") for l in open(path[:-4] + ".rttm")]
    turns = [(t[7], float(t[3]), float(t[3]) + float(t[4])) for t in turns]
    out = []
    for who in sorted({t[0] for t in turns}):
        own = np.zeros(len(x) // 160 + 2, bool)
        for speaker, a, b in sorted(turns, key=lambda t: t[0] != who):
            own[int(a * 100) : int(b * 100)] = speaker == who
        edges = np.flatnonzero(np.diff(own.astype(int)))
        out.append((f"{name}-{who}", [x[a * 160 : b * 160] for a, b in zip(edges[::2] + 1, edges[1::2] + 1)]))
    return out


def main(out):
    r = random.Random(7)
    read = [l.split(" ", 1)[1].strip().lower() for l in open(LIBRISPEECH + "/all.trans.txt") if " " in l]
    read = [" ".join(l.split(" ")[i : i + 16]) for l in read for i in range(0, len(l.split(" ")) - 5, 16)]

    def line(lang):
        if lang == "en" and r.random() < 0.6:
            return r.choice(read)
        return " ".join(sentence(lang, r) for _ in range(2))

    pool = []

    def add(name, split, kind, utterances):
        kept = [u for u in (tidy(u) for u in utterances if len(u) > 8000) if u is not None]
        if len(kept) > 1 or kept and kind == "other":
            pool.append(dict(name=name, base=re.sub(r"^(espeak:[^:]+):.*", r"\1", name), split=split, kind=kind,
                             speech=[speech_flags(u) for u in kept],
                             utterances=[(np.clip(u, -1, 1) * 32767).astype(np.int16) for u in kept]))

    folder = glob.glob("/usr/lib/*/espeak-ng-data/voices/!v")[0]
    for variant in sorted(os.listdir(folder)):
        if variant in SKIPPED:
            continue
        held = variant in HELD_ESPEAK
        for copy in range(1 if held else 3):
            accent, lang = ("en-us", "en") if held else r.choice(ACCENTS)
            pitch = 50 if held else r.choice([15, 30, 40, 50, 50, 60, 75])
            speed = 1.0 if not copy else r.uniform(0.87, 1.17)
            said = []
            for _ in range(10 if held else 8):
                raw = subprocess.run(["espeak-ng", "-v", accent + "+" + variant, "-p", str(pitch), "-s",
                                      str(r.randint(135, 190)), "--stdout", line(lang)], capture_output=True).stdout
                x = np.frombuffer(raw[44:], np.int16).astype(np.float32) / 32768
                said.append(faster(resample_poly(x, 320, 441).astype(np.float32), speed))
            add(f"espeak:{variant}:{copy}", "test" if held else "train", "espeak", said)
    print("espeak", len(pool), flush=True)

    with tempfile.NamedTemporaryFile(suffix=".wav") as wav:
        for names, command in ((FLITE, lambda v, t: ["flite", "-voice", v, "-t", t, "-o", wav.name]),
                               (FESTIVAL, lambda v, t: ["text2wave", "-eval", f"(voice_{v})", "-o", wav.name])):
            for voice, split in names.items():
                said = []
                lang = "en" if names is FLITE or "ked" in voice else "es"
                for _ in range(11):
                    text = line(lang).encode("ascii", "ignore").decode()
                    subprocess.run(command(voice, text), input=text.encode(), capture_output=True)
                    said.append(decode(wav.name))
                for speed in SPEEDS if split == "train" else [1.0]:
                    add(f"natural:{voice}:{speed}", split, "natural", [faster(x, speed) for x in said])
    print("natural", len(pool), flush=True)

    for reader in sorted(glob.glob(LIBRISPEECH + "/*/")):
        name = reader.split("/")[-2]
        said = [p for f in sorted(glob.glob(reader + "*.flac"))
                for x in [decode(f)] for p in ([x] if len(x) < 10 * RATE else pieces(x, r))]
        split = "test" if name in HELD_READERS else "train"
        for speed in SPEEDS if split == "train" else [1.0]:
            add(f"reader:{name}:{speed}", split, "reader", [faster(x, speed) for x in said])

    for path in sorted(glob.glob(OTHERS + "/**/*.wav", recursive=True)) if OTHERS else []:
        for name, said in spoken_alone(path):
            add(f"other:{name}", "test", "other", said)

    pickle.dump(pool, open(out, "wb"), 4)
    for split in ("train", "test"):
        for kind in ("espeak", "natural", "reader", "other"):
            own = [p for p in pool if p["split"] == split and p["kind"] == kind]
            print(split, kind, len(own), "voices", round(sum(len(u) for p in own for u in p["utterances"]) / RATE / 60, 1), "min")


if __name__ == "__main__":
    main(sys.argv[1])
