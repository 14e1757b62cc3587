"""Makes speech with exact times of words and phonemes, by two free synthesizers: espeak-ng and flite.

The library of espeak-ng is called through ctypes, because only the library reports phoneme events. flite runs in a
small C program (flite_words.c), which prints the segments of each utterance and then its samples.
"""
import ctypes
import os
import subprocess

import numpy as np
from scipy.signal import resample_poly

RATE = 16000
HERE = os.path.dirname(os.path.abspath(__file__))

# The names of the synthetic voices. The voices in FLITE belong to flite. COMMON, OTHERS and HELD are voice variants of
# espeak-ng, which differ in formants, pitch and breath. Robotic, whispering and distorted variants are left out. The
# voices in HELD are used only to measure models: no model is trained on them.
FLITE = ["slt", "rms", "awb", "kal", "kal16"]
COMMON = ["", "m1", "m2", "m3", "m4", "m6", "m7", "m8", "f1", "f2", "f3", "f4"]
OTHERS = ("Alex Alicia Andy Annie Diogo Gene Lee Marco Mario Mike adam anika antonio belinda benjamin boris caleb "
          "david ed edward2 gustave john marcelo max michel miguel norbert pablo paul pedro quincy rob robert sandro "
          "shelby steph steph2 travis victor zac").split()
HELD = "m5 Andrea edward linda Michael steph3 iven2 grandma".split()
ACCENTS = dict(en=["en-us", "en-us", "en"], de=["de"], es=["es", "es-419"], fr=["fr"])


def pick_voice(lang, random, held=False):
    if held:
        variant = random.choice(HELD)
    elif lang == "en" and random.random() < 0.33:
        return random.choice(FLITE)
    else:
        variant = random.choice(COMMON if random.random() < 0.55 else OTHERS)
    return random.choice(ACCENTS[lang]) + ("+" + variant if variant else "")


def speak(text, voice, random=None):
    """Speaks a text. Returns the samples, the words and the phones.

    Returns None if the speech is too short or too quiet, or if its words do not match the text. The samples are floats
    at 16 kHz with a peak of 0.5. Each word or phone is (name, start, end) in seconds."""
    if voice in FLITE:
        spoken = flite(text, voice, random.uniform(0.9, 1.15) if random else 1.0)
    elif random:
        spoken = espeak(text, voice, int(random.uniform(140, 195)), int(random.uniform(30, 70)), int(random.uniform(35, 65)))
    else:
        spoken = espeak(text, voice)
    if spoken is None or len(spoken[0]) < 3200 or np.abs(spoken[0]).max() < 100:
        return None
    samples, words, phones = trim(*spoken)
    return samples / np.abs(samples).max() * 0.5, words, phones


def trim(samples, words, phones):
    """Removes the silence at the ends, except 20 ms before the speech and 40 ms after it."""
    start = max(0.0, min(w[1] for w in words) - 0.02)
    end = min(len(samples) / RATE, max(w[2] for w in words) + 0.04)
    shift = lambda spans: [(n, max(0.0, a - start), b - start) for n, a, b in spans if b > start]
    return samples[int(start * RATE) : int(end * RATE)], shift(words), shift(phones)


# ---- Speech by the synthesizer espeak-ng

class EventId(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("unique", ctypes.c_int), ("text_position", ctypes.c_int),
                ("length", ctypes.c_int), ("audio_position", ctypes.c_int), ("sample", ctypes.c_int),
                ("user_data", ctypes.c_void_p), ("id", EventId)]


WORD_EVENT, PHONEME_EVENT, INITIALIZE_PHONEME_EVENTS, RETRIEVAL, UTF8 = 1, 7, 1, 2, 1
SET_RATE, SET_PITCH, SET_RANGE = 1, 3, 4
_chunks, _events = [], []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))
def _collect(wave, count, events):
    if wave and count > 0:
        _chunks.append(ctypes.string_at(wave, count * 2))
    i = 0
    while events[i].type:
        e = events[i]
        if e.type == WORD_EVENT:
            _events.append((e.sample, e.type, e.text_position, ""))
        elif e.type == PHONEME_EVENT:
            _events.append((e.sample, e.type, e.text_position, e.id.string.decode("latin1")))
        i += 1
    return 0


_espeak = _espeak_rate = None


def espeak(text, voice, rate=165, pitch=50, spread=50):
    global _espeak, _espeak_rate
    if _espeak is None:
        _espeak = ctypes.CDLL("libespeak-ng.so.1")
        _espeak_rate = _espeak.espeak_Initialize(RETRIEVAL, 0, None, INITIALIZE_PHONEME_EVENTS)
        _espeak.espeak_SetSynthCallback(_collect)
    if _espeak.espeak_SetVoiceByName(voice.encode()):
        raise ValueError(voice)
    for key, value in ((SET_RATE, rate), (SET_PITCH, pitch), (SET_RANGE, spread)):
        _espeak.espeak_SetParameter(key, value, 0)
    _chunks.clear(), _events.clear()
    said = (text + " ").encode()
    _espeak.espeak_Synth(said, len(said) + 1, 0, 1, 0, UTF8, None, None)
    samples = np.frombuffer(b"".join(_chunks), np.int16).astype(np.float32)
    tokens = text.split(" ")
    begins = np.cumsum([1] + [len(t) + 1 for t in tokens])[:-1]  # espeak-ng counts the characters of the text from 1

    # espeak-ng reports the start of each word and of each phoneme as an event. A phoneme belongs to the word whose
    # event is the last one before the phoneme.
    phones, spans, current = [], {}, 0
    ordered = sorted(_events, key=lambda e: e[0])
    sounds = []
    for sample, kind, position, name in ordered:
        if kind == WORD_EVENT:
            current = max(i for i in range(len(tokens)) if begins[i] <= position + 1)
        else:
            sounds.append((name, sample, current))
    for i, (name, sample, word) in enumerate(sounds):
        end = sounds[i + 1][1] if i + 1 < len(sounds) else len(samples)
        if name.startswith(("_", "(")) or end <= sample:
            continue  # a pause or a language switch
        a, b = sample / _espeak_rate, end / _espeak_rate
        phones.append((name, a, b))
        spans[word] = (spans[word][0] if word in spans else a, b)
    if not spans:
        return None

    # espeak-ng may report one event for several words, such as "of the". The time of this event is divided among the
    # words by their lengths.
    words, i = [], 0
    spans.setdefault(0, (min(a for a, _ in spans.values()),) * 2)
    while i < len(tokens):
        j = i + 1
        while j < len(tokens) and j not in spans:
            j += 1
        total, (start, end) = sum(map(len, tokens[i:j])), spans[i]
        for k in range(i, j):
            length = (end - spans[i][0]) * len(tokens[k]) / total
            words.append((tokens[k], start, start + length))
            start += length
        i = j
    return resample_poly(samples, 320, 441).astype(np.float32), words, phones


# ---- Speech by the synthesizer flite

# flite and espeak-ng are speech synthesizers that use different names for the phonemes of English. The keys are flite's
# names of phonemes. Each value is espeak-ng's name of the same phoneme, or of a similar phoneme.
ARPABET = dict(aa="A:", ae="a", ah="V", ao="O:", aw="aU", ax="@", ay="aI", b="b", ch="tS", d="d", dh="D", dx="d",
               eh="E", er="3:", ey="eI", f="f", g="g", hh="h", ih="I", iy="i:", jh="dZ", k="k", l="l", m="m", n="n",
               ng="N", ow="oU", oy="OI", p="p", r="r", s="s", sh="S", t="t", th="T", uh="U", uw="u:", v="v", w="w",
               y="j", z="z", zh="Z")
_flite = None


def flite(text, voice, stretch=1.0):
    global _flite
    if _flite is None:
        program = os.environ.get("FLITE_WORDS", os.path.join(HERE, "flite_words"))
        _flite = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    _flite.stdin.write(f"{voice}\t{stretch}\t{text}\n".encode())
    _flite.stdin.flush()
    head, *segments = _flite.stdout.readline().decode().strip().split("|")
    rate, count = map(int, head.split())
    samples = np.frombuffer(_flite.stdout.read(2 * count), np.int16).astype(np.float32)
    if rate == 8000:
        samples = resample_poly(samples, 2, 1)
    phones, found, last, last_id = [], [], 0.0, None
    for segment in segments:
        name, end, word, word_id = segment.split(" ")
        end = float(end)
        if name != "pau":
            phones.append((ARPABET.get(name, name), last, end))
            if word_id != last_id:
                found.append([word, last, end])
                last_id = word_id
            else:
                found[-1][2] = end
        last = end
    words = match_words(text.split(" "), found)
    return words and (samples.astype(np.float32), words, phones)


def match_words(tokens, found):
    """Returns the words with their times. flite splits some words, such as "o'clock"; joins such parts by the spelling."""
    if len(found) == len(tokens):
        return [(t, a, b) for t, (_, a, b) in zip(tokens, found)]
    words, rest = [], list(found)
    for token in tokens:
        letters = "".join(c for c in token.lower() if c.isalpha() or c == "'")
        if not rest:
            return None
        spelled, start, end = rest.pop(0)
        while spelled != letters and rest and len(spelled) < len(letters):
            more, _, end = rest.pop(0)
            spelled += more.strip()
        words.append((token, start, end))
    return None if rest else words
