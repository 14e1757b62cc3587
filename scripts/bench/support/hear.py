"""Transcribes WAV files (16 kHz, mono, 16 bits) with another program: python hear.py faster|openai|cpp WEIGHTS FILE...

faster: faster-whisper, int8, batches of 8, greedy. WEIGHTS is a folder in CTranslate2's format.
openai: openai/whisper, greedy with fallback, without the previous text. WEIGHTS is the file of the base model.
cpp: whisper.cpp by pywhispercpp, greedy, one thread, without word times. WEIGHTS is a file in whisper.cpp's format.
All programs detect the language. Prints a JSON list with {text, words} for each file.
"""
import json
import sys
import wave

import numpy as np


def samples(path):
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768


def faster(weights):
    from faster_whisper import BatchedInferencePipeline, WhisperModel
    model = BatchedInferencePipeline(WhisperModel(weights, device="cpu", compute_type="int8", cpu_threads=2))

    def hear(sound):
        segments, _ = model.transcribe(sound, batch_size=8, beam_size=1, word_timestamps=True)
        return [word for segment in segments for word in segment.words]
    return lambda sound: [(word.word, word.start, word.end) for word in hear(sound)]


def openai(weights):
    import torch
    import whisper
    torch.set_num_threads(1)
    model = whisper.load_model(weights, device="cpu")
    model.set_alignment_heads(whisper._ALIGNMENT_HEADS["base"])
    asked = dict(fp16=False, word_timestamps=True, condition_on_previous_text=False)

    def hear(sound):
        return [word for segment in model.transcribe(sound, **asked)["segments"] for word in segment["words"]]
    return lambda sound: [(word["word"], word["start"], word["end"]) for word in hear(sound)]


def cpp(weights):
    from pywhispercpp.model import Model
    model = Model(weights, n_threads=1, language="auto", print_progress=False, print_realtime=False)
    return lambda sound: [(f" {segment.text}", segment.t0 / 100, segment.t1 / 100) for segment in model.transcribe(sound)]


def answer(words):
    named = [{"word": word, "start": float(start), "end": float(end)} for word, start, end in words]
    return {"text": "".join(word for word, _, _ in words), "words": named}


if __name__ == "__main__":
    program, weights, *files = sys.argv[1:]
    hear = {"faster": faster, "openai": openai, "cpp": cpp}[program](weights)
    print(json.dumps([answer(hear(samples(file))) for file in files]))
