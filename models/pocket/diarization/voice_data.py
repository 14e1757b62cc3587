"""Makes windows of conversations, and reads them with Whisper's encoder: python voice_data.py POOL OUT.npz COUNT SEED SPLIT

ENCODER is the folder that encoder.ts writes, so the outputs have the 8-bit arithmetic of steno. SPLIT is train or test.
OUT.npz has the encoder's states of all windows, one after the other, and the speakers in both halves of each frame, as
bit sets. For each window, it has the length, the condition, and the voices of the speakers (-1: there is none). Set
LENGTH=30. A window needs 0.4 s of one core.
"""
import os
import sys

import numpy as np
import onnxruntime
import whisper

from conditions import Conditions

FRAMES, SAMPLES = 1500, 480000  # model frames and samples in a window of 30 s


class Encoder:
    def __init__(self, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(folder + "/encoder.onnx", options)

    def __call__(self, x):
        """Returns the states of the model frames that have sound. As in steno, the silence after them is shortened."""
        frames = min(FRAMES, -(-len(x) // 320))
        mel = whisper.log_mel_spectrogram(np.ascontiguousarray(x, np.float32), padding=SAMPLES - len(x)).numpy()
        places, counts, at = [], [], 0
        while at < FRAMES:
            count = 1 if at < frames + 50 or at >= FRAMES - 10 else min(8, FRAMES - 10 - at)
            places.append(at)
            counts.append(count)
            at += count
        picked = (2 * np.array(places)[:, None] + np.arange(2)).ravel()
        inputs = dict(mel=np.ascontiguousarray(mel[None][:, :, picked]), places=np.array(places), counts=np.array(counts, np.float32))
        return self.session.run(["states"], inputs)[0].reshape(len(places), -1)[:frames]


def halves(speakers):
    """Returns the speakers in the 10 ms before the centre of each frame, and in the 10 ms after it."""
    return np.stack([np.concatenate([speakers[:1], speakers[1:-1:2]]), speakers[::2]], 1)


def main(pool, out, count, seed, split):
    made, encoder = Conditions(pool, split, int(seed)), Encoder(os.environ.get("ENCODER", "encoder"))
    states, speakers, lengths, conditions, voices = [], [], [], [], []
    for _ in range(int(count)):
        condition, x, truth, numbers = made.window()
        own = encoder(x).astype(np.float16)
        states.append(own)
        speakers.append(halves(truth)[: len(own)])
        lengths.append(len(own))
        conditions.append(condition)
        voices.append((numbers + [-1] * 3)[:3])
    np.savez(out, states=np.concatenate(states), speakers=np.concatenate(speakers), lengths=lengths, conditions=conditions,
             voices=voices)


if __name__ == "__main__":
    main(*sys.argv[1:])
