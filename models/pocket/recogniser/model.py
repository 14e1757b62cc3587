"""The pocket recogniser: a small model with Whisper's architecture, and some layers that only the training needs.

The parameters have the names of openai/whisper, so that export.py and to_ggml.py can use the same names.
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MELS, CTX_AUDIO, CTX_TEXT, HEAD = 80, 1500, 448, 64
FUSED_FROM = 600  # with fewer keys, PyTorch's fused attention is slower on a CPU than two matrix products


def sinusoids(length, channels):
    """Returns Whisper's fixed positions of the encoder: sines in the first half of the channels, cosines in the second."""
    rate = torch.exp(-math.log(10000) / (channels // 2 - 1) * torch.arange(channels // 2))
    angle = torch.arange(length)[:, None] * rate[None]
    return torch.cat([angle.sin(), angle.cos()], 1)


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.heads = d // HEAD
        self.query, self.key = nn.Linear(d, d), nn.Linear(d, d, bias=False)
        self.value, self.out = nn.Linear(d, d), nn.Linear(d, d)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, HEAD).transpose(1, 2)

    def forward(self, x, source=None, causal=False, weights=False):
        source = x if source is None else source
        q, k, v = self.split(self.query(x)), self.split(self.key(source)), self.split(self.value(source))
        seen = None
        if weights or k.shape[2] <= FUSED_FROM:
            scores = (q * HEAD ** -0.5) @ k.transpose(-1, -2)
            if causal:
                scores = scores + torch.full(scores.shape[-2:], -1e4, dtype=scores.dtype, device=scores.device).triu(1)
            seen = scores.softmax(-1)
            mixed = seen.to(v.dtype) @ v
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2)), seen


class Block(nn.Module):
    def __init__(self, d, cross):
        super().__init__()
        self.attn, self.attn_ln = Attention(d), nn.LayerNorm(d)
        if cross:
            self.cross_attn, self.cross_attn_ln = Attention(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.mlp_ln = nn.LayerNorm(d)

    def forward(self, x, source=None, weights=False):
        x = x + self.attn(self.attn_ln(x), causal=source is not None)[0]
        seen = None
        if source is not None:
            y, seen = self.cross_attn(self.cross_attn_ln(x), source, weights=weights)
            x = x + y
        return x + self.mlp(self.mlp_ln(x)), seen


# For each of the first encoder layers and each head: the frame to which the head attends at the start of the training,
# as a distance from its own frame. With these distances, the model learns phonemes in minutes. Without them, it needs
# hours.
LOOK = [(-2, 2, 5), (-8, -4, 8), (-15, 14, 0)]


class Encoder(nn.Module):
    def __init__(self, d, layers):
        super().__init__()
        self.conv1 = nn.Conv1d(MELS, d, 3, padding=1)
        self.conv2 = nn.Conv1d(d, d, 3, stride=2, padding=1)
        self.register_buffer("positional_embedding", sinusoids(CTX_AUDIO, d))
        self.blocks = nn.ModuleList([Block(d, False) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(d)
        with torch.no_grad():
            self.conv1.weight *= 2
            self.conv2.weight *= 2.5
            for block, offsets in zip(self.blocks, LOOK):
                for head, offset in enumerate(offsets[: block.attn.heads]):
                    self.look(block.attn, d, head, offset)

    # Sets the weights of a head so that it attends to the frame at the distance `offset`. Whisper encodes the position
    # of a frame as sines and cosines. The key matrix shifts this position by `offset` frames. So the dot product of a
    # query and a key is greatest at this distance.
    def look(self, attn, d, head, offset):
        half, pairs = d // 2, HEAD // 2
        rate = torch.exp(-math.log(10000) / (half - 1) * torch.arange(half))
        q, k = torch.zeros(HEAD, d), torch.zeros(HEAD, d)
        for j in range(pairs):
            c, s = math.cos(rate[j] * offset), math.sin(rate[j] * offset)
            q[2 * j, j] = q[2 * j + 1, half + j] = 1
            k[2 * j, j], k[2 * j, half + j] = c, -s
            k[2 * j + 1, half + j], k[2 * j + 1, j] = c, s
        rows = slice(head * HEAD, (head + 1) * HEAD)
        attn.query.weight[rows] = 1.5 * q + 0.02 * torch.randn(HEAD, d)
        attn.key.weight[rows] = 1.5 * k + 0.02 * torch.randn(HEAD, d)

    def forward(self, mel, offsets=None):
        x = F.gelu(self.conv1(mel))
        x = F.gelu(self.conv2(x)).transpose(1, 2)
        self.stem_power = x.float().pow(2).mean()
        n = x.shape[1]
        places = self.positional_embedding
        x = x + (places[:n] if offsets is None else torch.stack([places[o : o + n] for o in offsets]))
        for block in self.blocks:
            x = block(x)[0]
        return self.ln_post(x)


class Decoder(nn.Module):
    def __init__(self, rows, d, layers):
        super().__init__()
        self.token_embedding = nn.Embedding(rows, d)
        self.positional_embedding = nn.Parameter(torch.randn(CTX_TEXT, d) * 0.01)
        self.blocks = nn.ModuleList([Block(d, True) for _ in range(layers)])
        self.ln = nn.LayerNorm(d)

    def forward(self, tokens, source, watched=()):
        """Also returns the cross-attention of the layers in `watched`, for the training and for word times."""
        x = self.token_embedding(tokens) + self.positional_embedding[: tokens.shape[1]]
        seen = {}
        for i, block in enumerate(self.blocks):
            x, weights = block(x, source, i in watched)
            if weights is not None:
                seen[i] = weights
        return self.ln(x), seen


class Pocket(nn.Module):
    """The whole model. `rows` is the number of rows of the small vocabulary. The last row is for all unused tokens."""

    def __init__(self, rows, stamps, phones, words, d=192, encoder_layers=3, decoder_layers=3):
        super().__init__()
        self.dims = dict(rows=rows, stamps=stamps, phones=phones, words=words, d=d,
                         encoder_layers=encoder_layers, decoder_layers=decoder_layers)
        self.encoder = Encoder(d, encoder_layers)
        self.decoder = Decoder(rows, d, decoder_layers)
        self.phone, self.word = nn.Linear(d, phones), nn.Linear(d, words)  # these layers predict phones and words; only for the training
        nn.init.normal_(self.decoder.token_embedding.weight, 0, 0.05)
        with torch.no_grad():  # at the start, similar times have similar embeddings
            smooth = 0.1 * sinusoids(1501, d) + 0.01 * torch.randn(1501, d)
            self.decoder.token_embedding.weight[stamps : stamps + 1501] = smooth

    def logits(self, x):
        return F.linear(x, self.decoder.token_embedding.weight)


class LogMel:
    """Computes Whisper's log-mel spectrogram for a batch of sounds."""

    def __init__(self, filters_npz):
        self.filters = torch.from_numpy(np.load(filters_npz)["mel_80"]).float()
        self.window = torch.hann_window(400)

    def __call__(self, x):
        power = torch.stft(x, 400, 160, window=self.window, return_complex=True)[..., :-1].abs() ** 2
        mel = (self.filters @ power).clamp(min=1e-10).log10()
        mel = torch.maximum(mel, mel.amax((1, 2), keepdim=True) - 8)
        return (mel + 4) / 4
