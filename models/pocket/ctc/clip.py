"""Writes the clip of the test of the pocket CTC model:
    python clip.py ../../../test/fixtures/ctc        (needs espeak-ng, and the packages numpy, scipy and soundfile)

The clip has three sentences that training never sees. The JSON file has the words and their times, which come from
espeak-ng.
"""
import json
import os
import random
import sys

import numpy as np
import soundfile

from train import RATE, TEMPLATES, sentence
from voices import speak

PAUSE = 0.8


def clip(seed):
    pick = random.Random(seed)
    parts, words, at = [np.zeros(int(PAUSE * RATE))], [], PAUSE
    for template in (*TEMPLATES, TEMPLATES[0]):
        text = sentence("en", pick, True, template)
        samples, spoken, _ = speak(text, "en-us")
        words += [{"word": word, "start": round(at + start, 3), "end": round(at + end, 3)} for word, start, end in spoken]
        parts += [samples, np.zeros(int(PAUSE * RATE))]
        at += len(samples) / RATE + PAUSE
    return np.concatenate(parts), words


if __name__ == "__main__":
    folder = sys.argv[1]
    samples, words = clip(5)
    os.makedirs(folder, exist_ok=True)
    soundfile.write(f"{folder}/unseen.flac", samples, RATE)
    json.dump({"text": " ".join(each["word"] for each in words), "words": words}, open(f"{folder}/unseen.json", "w"), indent=1)
