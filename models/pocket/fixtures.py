"""Makes the test audio with its reference texts: python fixtures.py OUT

Each run makes the same files. FLITE_WORDS is the path of the program flite_words, as in voices.py. The models were not
trained on these sentences, except "Hello.". test/fixtures/speech/README.md describes the format.
"""
import json
import os
import random
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "recogniser"))
from sentences import is_held, sentence
from voices import HELD, RATE, speak

OUT = sys.argv[1] if len(sys.argv) > 1 else "out"
ENCODE = dict(flac=["-c:a", "flac", "-compression_level", "12"], opus=["-c:a", "libopus", "-b:a", "32k"],
              wav=["-c:a", "pcm_mulaw", "-ar", "8000"])


class Track:
    """One channel with sentences one after the other, and the reference: the text and the time of each sentence."""

    def __init__(self, lead):
        self.t, self.parts, self.sentences = lead, [], []

    def say(self, text, lang, voice, r, speaker=None, at=None, gain=1.0):
        samples, words, _ = speak(text, voice, r)
        start = self.t if at is None else at
        start = round(start * RATE) / RATE
        self.parts.append((round(start * RATE), samples * gain))
        name = voice.split("+")[-1]
        self.sentences.append(dict(
            start=round(start + words[0][1], 3), end=round(start + words[-1][2], 3), text=text, speaker=speaker or voice,
            language=lang, voice=voice, voice_unseen=name in HELD, sentence_unseen=is_held(text),
            words=[dict(word=w, start=round(start + a, 3), end=round(start + b, 3)) for w, a, b in words]))
        self.t = max(self.t, start + len(samples) / RATE)

    def audio(self, seconds=None, noise=0.0, seed=0):
        n = int((seconds or self.t) * RATE)
        x = np.zeros(n)
        for i, samples in self.parts:
            x[i : i + len(samples)] += samples[: max(0, n - i)]
        return np.clip(x + np.random.RandomState(seed).randn(n) * noise, -1, 1)


def save(name, x, track, lang, kind="flac", **more):
    """Writes the sound and its reference. `x` has the shape [samples] or [samples, channels]."""
    file, channels = f"{name}.{kind}", 1 if x.ndim == 1 else x.shape[1]
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "s16le", "-ar", str(RATE), "-ac", str(channels), "-i", "-",
                    *ENCODE[kind], "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact",
                    os.path.join(OUT, file)], input=(x * 32767).astype("<i2").tobytes(), check=True)
    sentences = sorted(track.sentences, key=lambda s: s["start"]) if track else []
    truth = dict(file=file, duration=round(len(x) / RATE, 3), language=lang, **more,
                 text=" ".join(s["text"] for s in sentences), speakers=sorted({s["speaker"] for s in sentences}),
                 sentences=sentences)
    with open(os.path.join(OUT, name + ".json"), "w") as out:
        json.dump(truth, out, ensure_ascii=False, indent=1)
        out.write("\n")


def clip(name, lang, voices, count, seed, templates=None, kind="flac", lead=0.3, gap=(0.3, 0.8), tail=0.4, noise=0.0, **more):
    r, track = random.Random(seed), Track(lead)
    for i in range(count):
        if i:
            track.t += r.uniform(*gap)
        template = templates[i % len(templates)] if templates else None
        held = template is None or template.count("{") > 1
        text = sentence(lang, r, held, template) if held or "{" in template else template
        track.say(text, lang, voices[i % len(voices)], r)
    save(name, track.audio(track.t + tail, noise, seed), track, lang, kind, **more)
    return track


def main():
    os.makedirs(OUT, exist_ok=True)
    clip("doctor", "en", ["en-us"], 1, 101, note="the clip that steno doctor says back word for word")
    clip("en-short", "en", ["slt"], 1, 100)
    clip("en-slt", "en", ["slt"], 2, 102)
    clip("en-rms", "en", ["rms"], 3, 103)
    clip("en-awb", "en", ["awb"], 3, 108)
    clip("en-f2", "en", ["en-us+f2"], 3, 104)
    clip("en-two-voices", "en", ["slt", "en+m3"], 4, 117, note="two voices take turns")
    clip("en-unseen-linda", "en", ["en-us+linda"], 3, 105, note="a voice never trained on")
    clip("en-unseen-m5", "en", ["en-us+m5"], 4, 106, note="a voice never trained on")
    clip("en-20s", "en", ["rms"], 8, 107, gap=(0.2, 0.4))
    clip("en-noisy", "en", ["slt"], 3, 109, noise=0.006, note="white noise about 20 dB below")
    clip("en-numbers", "en", ["slt"], 4, 110, ["My number is {digit} {digit} {digit} {digit} {digit}.",
         "The code is {digit} {digit} {digit} {digit}.", "She has {number} books and {number} pictures.",
         "He was born in {month}, {number} years ago."], note="digits and number words")
    clip("en-one-word", "en", ["slt"], 1, 111, ["Hello."], lead=0.5, tail=0.8, note="one word alone")
    clip("en-edges", "en", ["en-us+m2"], 2, 112, lead=0.0, tail=0.0, note="speech from the first sample to the last")
    clip("en-pauses", "en", ["en-us+f1"], 4, 113, gap=(8, 13), note="8 to 13 s of digital silence between sentences")
    clip("en-phone", "en", ["rms"], 3, 114, kind="wav", note="8 kHz, mu-law")
    for i, (lang, voices) in enumerate(dict(de=["de", "de+f3"], es=["es", "es+m2"], fr=["fr", "fr+f1"]).items()):
        for k, voice in enumerate(voices):
            clip(f"{lang}-{'ab'[k]}", lang, [voice], 2 + 2 * k, 120 + 2 * i + k)
    clip("de-unseen", "de", ["de+edward"], 2, 130, note="a voice never trained on")

    r = random.Random(115)
    left, right = Track(0.3), Track(0.3)
    for i in range(4):
        t = max(left.t, right.t) + 0.4
        (left, right)[i % 2].say(sentence("en", r, True), "en", ("slt", "awb")[i % 2], r, at=t)
    seconds = max(left.t, right.t) + 0.4
    both = Track(0)
    both.sentences = left.sentences + right.sentences
    save("en-stereo", np.stack([left.audio(seconds), right.audio(seconds)], 1), both, "en",
         note="two channels: slt on the left, awb on the right")

    n, noise = RATE * 20, np.random.RandomState(3)
    t = np.arange(n) / RATE
    save("silence", np.zeros(n), None, None, note="digital silence")
    save("noise", noise.randn(RATE * 12) * 0.02, None, None, "opus", note="white noise")
    tones = sum(0.06 * np.sin(2 * np.pi * f * t) * (np.sin(2 * np.pi * t * beat + phase) > 0)
                for f, beat, phase in ((220, 0.9, 0), (277.2, 0.7, 1), (329.6, 1.1, 2), (440, 0.5, 0.5)))
    save("tones", tones, None, None, "opus", note="four tones that come and go, like music")

    r, talk, voices, overlapped, turn = random.Random(5), Track(0.5), ["slt", "awb", "en-us+m3"], False, 0
    while talk.t < 116:
        at = None
        if talk.t > 55 and not overlapped:
            at, overlapped = talk.t - 0.9, True
        who = turn % 3 if r.random() < 0.75 else r.randrange(3)
        talk.t += 0 if at else r.uniform(0.2, 1.0)
        for _ in range(r.randint(1, 3)):
            talk.say(sentence("en", r, True), "en", voices[who], r, "ABC"[who], at)
            at = None
            talk.t += r.uniform(0.25, 0.6)
        turn += 1
    save("conversation", talk.audio(max(120, talk.t + 0.3), 0.0008, 7), talk, "en", "opus",
         note="three voices, one overlap of about a second near 55 s")

    # A monologue of ten minutes is joined from 16 clips. monologue.recipe.json lists the clips and their start times.
    # test/support/compose-speech.ts reads this list and makes the sound.
    names = []
    for i in range(16):
        names.append(f"monologue-{i:02}")
        clip(names[-1], "en", ["rms"], 4, 200 + i, kind="opus", lead=0.1, gap=(0.3, 0.9), tail=0.2, noise=0.0004)
    r, parts, t = random.Random(6), [], 0.4
    lengths = {name: json.load(open(os.path.join(OUT, name + ".json")))["duration"] for name in names}
    while True:
        name = names[len(parts) % 16]
        if t + lengths[name] > 599.5:
            break
        parts.append(dict(clip=name, at=round(t, 2)))
        t += lengths[name] + r.choice([r.uniform(0.2, 0.7), r.uniform(0.2, 0.7), r.uniform(1, 3)])
    json.dump(dict(duration=600, language="en", note="one speaker, ten minutes; test/support/compose-speech.ts makes it",
                   parts=parts), open(os.path.join(OUT, "monologue.recipe.json"), "w"), indent=1)
    open(os.path.join(OUT, "monologue.recipe.json"), "a").write("\n")


if __name__ == "__main__":
    main()
