"""Counts the word errors of whisper.cpp on the test clips, with a model file of to_ggml.py: python whisper_cpp.py GGML.bin FIXTURES [NAME...]

    pip install pywhispercpp        # not in requirements.txt: only this check needs it
"""
import glob
import json
import os
import subprocess
import sys

import numpy as np
from pywhispercpp.model import Model

from evaluate import errors


def main(file, fixtures, *names):
    model = Model(file, n_threads=1, print_progress=False, print_realtime=False, redirect_whispercpp_logs_to=None)
    wrong = total = 0
    for path in sorted(glob.glob(fixtures + "/*.json")):
        name = os.path.basename(path)[:-5]
        if "recipe" in name or names and not any(name.startswith(n) for n in names):
            continue
        truth = json.load(open(path))
        command = ["ffmpeg", "-v", "error", "-i", os.path.join(fixtures, truth["file"]), "-f", "f32le", "-ac", "1", "-ar", "16000", "-"]
        sound = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.float32)
        said = " ".join(s.text.strip() for s in model.transcribe(sound, language=truth["language"] or "en"))
        e, n = errors(truth["text"], said)
        wrong, total = wrong + e, total + n
        print(f"{name}: {e} of {n}" + (f"\n   truth: {truth['text'][:400]}\n   said: {said[:400]}" if e else ""), flush=True)
    print(f"wrong of {total} words: {100 * wrong / max(1, total):.1f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
