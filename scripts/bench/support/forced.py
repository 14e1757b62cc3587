"""Transcribes windows of 30 s with a fixed number of tokens for each: python forced.py faster|cpp WEIGHTS TOKENS SOUND

The weights are random, so without a fixed number, each program would decode another number of tokens, and their times
could not be compared. SOUND is a file of raw 32-bit floats. `faster` is faster-whisper, and `cpp` is whisper.cpp.
Prints the number of decoded tokens.
"""
import sys

import numpy as np

SECONDS, RATE = 30, 16_000
# The id of the end token, and all higher token ids. None of these tokens is text.
SPECIAL = range(50_257, 51_865)


def faster(weights, count, sound):
    from faster_whisper import BatchedInferencePipeline, WhisperModel
    model = BatchedInferencePipeline(WhisperModel(weights, device="cpu", compute_type="int8", cpu_threads=2))
    spans = [{"start": at, "end": at + SECONDS} for at in range(0, len(sound) // RATE, SECONDS)]
    # Each window must get exactly `count` tokens. CTranslate2 decodes at most half of its maximum length, so this
    # length must be 2 * count. faster-whisper adds the four tokens of the prompt to `max_new_tokens` to get the maximum
    # length, so 4 is subtracted here. The text never ends earlier, because the end token is suppressed.
    options = dict(language="en", temperature=0.0, vad_filter=False, clip_timestamps=spans, max_new_tokens=2 * count - 4)
    segments, _ = model.transcribe(
        sound, batch_size=8, beam_size=1, word_timestamps=True, suppress_tokens=[-1, *SPECIAL], **options)
    return sum(len(segment.tokens) for segment in segments)


def cpp(weights, count, sound):
    import _pywhispercpp as native
    from pywhispercpp.model import Model
    quiet = dict(print_progress=False, print_realtime=False)
    model = Model(weights, n_threads=1, language="en", no_timestamps=True, single_segment=True, **quiet)

    def hear(window):
        # whisper.cpp decodes one token more than the maximum.
        segments = model.transcribe(window, max_tokens=count - 1, temperature_inc=0.0)
        return sum(native.whisper_full_n_tokens(model._ctx, index) for index in range(len(segments)))
    return sum(hear(sound[at:at + SECONDS * RATE]) for at in range(0, len(sound), SECONDS * RATE))


if __name__ == "__main__":
    program, weights, count, path = sys.argv[1:]
    print({"faster": faster, "cpp": cpp}[program](weights, int(count), np.fromfile(path, np.float32)))
