"""The numbers of Whisper's tokens, and Whisper's byte-pair encoding, which is read from the published tokenizer.json."""
import functools
import json
import re

EOT, SOT, TRANSLATE, TRANSCRIBE, PREVIOUS, NO_SPEECH, NO_TIMES, TIME = (
    50257, 50258, 50358, 50359, 50361, 50362, 50363, 50364)
VOCABULARY = 51865
STAMPS = 1501
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+")


def byte_letters():
    """Returns the printable characters that GPT-2 uses for the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in plain}
    for b in range(256):
        letters.setdefault(b, chr(256 + len(letters) - len(plain)))
    return letters


class Tokenizer:
    def __init__(self, path):
        published = json.load(open(path))
        letters = byte_letters()
        self.letter = letters
        back = {c: b for b, c in letters.items()}
        vocab = published["model"]["vocab"]
        self.bytes = {i: bytes(back[c] for c in t) for t, i in vocab.items() if i < EOT}
        merges = [m.split(" ") if isinstance(m, str) else m for m in published["model"]["merges"]]
        self.rank = {tuple(pair): i for i, pair in enumerate(merges)}
        self.vocab = vocab
        self.special = {a["content"]: a["id"] for a in published["added_tokens"]}

    def language(self, code):
        return self.special[f"<|{code}|>"]

    @functools.lru_cache(None)
    def _merge(self, piece):
        parts = [self.letter[b] for b in piece]
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda i: self.rank.get((parts[i], parts[i + 1]), 1 << 30))
            if (parts[best], parts[best + 1]) not in self.rank:
                break
            parts[best : best + 2] = [parts[best] + parts[best + 1]]
        return tuple(self.vocab[p] for p in parts)

    def encode(self, text):
        return [i for piece in WORDS.findall(text) for i in self._merge(piece.encode())]

    def decode(self, ids):
        return b"".join(self.bytes[i] for i in ids if i < EOT).decode("utf8", "replace")
