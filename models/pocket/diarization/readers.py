"""Replaces the readers in a pool of voices: python readers.py POOL.pkl OUT.pkl

READERS is the folder of LibriSpeech train-clean-100 (CC BY 4.0), or a part of it. Each twelfth reader is kept for tests.
The synthetic voices of POOL.pkl, which pool.py makes, stay.
"""
import glob
import os
import pickle
import sys

import numpy as np

from pool import decode, faster, speech_flags, tidy

READERS = os.environ.get("READERS", "train-clean-100")
SPEEDS = (1.0, 0.91, 1.09)


def voice(name, split, said):
    kept = [u for u in map(tidy, said) if u is not None]
    return dict(name=name, base=":".join(name.split(":")[:2]), split=split, kind="reader",
                speech=[speech_flags(u) for u in kept],
                utterances=[(np.clip(u, -1, 1) * 32767).astype(np.int16) for u in kept])


def main(path, out):
    pool = [v for v in pickle.load(open(path, "rb")) if v["kind"] in ("espeak", "natural")]
    files = {}
    for file in sorted(glob.glob(READERS + "/**/*.flac", recursive=True)):
        files.setdefault(os.path.basename(file).split("-")[0], []).append(file)
    for number, name in enumerate(sorted(files)):
        said = [decode(file) for file in files[name]]
        held = number % 12 == 6
        for speed in (1.0,) if held else SPEEDS:
            made = voice(f"reader:{name}:{speed}", "test" if held else "train", [faster(u, speed) for u in said])
            if made["utterances"]:
                pool.append(made)
    pickle.dump(pool, open(out, "wb"), 4)
    print(len(files), "readers,", len(pool), "voices")


if __name__ == "__main__":
    main(*sys.argv[1:])
