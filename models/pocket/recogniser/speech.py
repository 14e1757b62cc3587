"""Synthesizes a shelf of sentences: python speech.py SEED COUNT OUT [held-voices | held-sentences | numbers]

A shelf is a set of spoken sentences in two files. OUT.npy has the samples of all sentences. OUT.pkl has an entry for
each sentence: its text, voice, position in OUT.npy, and the times of its words and phones. "held-sentences" has
sentences that are not in the training, with the voices of the training. "held-voices" has such sentences with other
voices. "numbers" is for the training: it has only sentences with digits and numbers, which the model learns last.
"""
import pickle
import random
import sys

import numpy as np

from sentences import LANGUAGES, TEMPLATES, sentence
from voices import pick_voice, speak

SHARE = dict(en=0.66, de=0.12, es=0.11, fr=0.11)
NUMBERED = {lang: [t for t in templates if "{digit}" in t or "{number}" in t or "{hour}" in t]
            for lang, templates in TEMPLATES.items()}


def shelf(seed, count, kind):
    r = random.Random(seed)
    samples, rows, at = [], [], 0
    while len(rows) < count:
        lang = r.choices(LANGUAGES, [SHARE[l] for l in LANGUAGES])[0]
        text = sentence(lang, r, kind.startswith("held"), r.choice(NUMBERED[lang]) if kind == "numbers" else None)
        voice = pick_voice(lang, r, held=kind == "held-voices")
        said = speak(text, voice, r)
        if said is None:
            continue
        x, words, phones = said
        samples.append((x * 32767).astype(np.int16))
        rows.append(dict(text=text, lang=lang, voice=voice, at=at, length=len(x), words=words, phones=phones))
        at += len(x)
    return np.concatenate(samples), rows


if __name__ == "__main__":
    samples, rows = shelf(int(sys.argv[1]), int(sys.argv[2]), sys.argv[4] if len(sys.argv) > 4 else "train")
    np.save(sys.argv[3] + ".npy", samples)
    pickle.dump(rows, open(sys.argv[3] + ".pkl", "wb"))
    print(sys.argv[3], len(rows), "sentences", round(len(samples) / 16000 / 3600, 2), "h")
