"""Prints the embeddings of sound files as JSON, by Resemblyzer itself: python resemble.py FILE...   (needs resemblyzer)

The sound is raised to -30 dBFS if it is quieter. Silence is not trimmed.
"""
import json
import os
import sys
import types

import scipy.ndimage

# Resemblyzer imports scipy.ndimage.morphology, a deprecated module that newer versions of SciPy do not have. These
# lines create a module with this name. It has only the one function that Resemblyzer needs.
morphology = types.ModuleType("scipy.ndimage.morphology")
morphology.binary_dilation = scipy.ndimage.binary_dilation
sys.modules["scipy.ndimage.morphology"] = morphology

import librosa
from resemblyzer import VoiceEncoder
from resemblyzer.audio import normalize_volume

encoder = VoiceEncoder("cpu", verbose=False)
embeddings = {}
for path in sys.argv[1:]:
    sound, _ = librosa.load(path, sr=16000)
    embedding = encoder.embed_utterance(normalize_volume(sound, -30, increase_only=True))
    embeddings[os.path.basename(path)] = [float(value) for value in embedding]
print(json.dumps(embeddings))
