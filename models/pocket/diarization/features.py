"""Computes Kaldi's filterbank features for WeSpeaker, and simulates echo, noise and telephones on these features."""
import numpy as np
import torch
import torch.nn.functional as F


def mel_banks(bands=80, points=512, rate=16000, low=20.0, high=8000.0):
    mel = lambda f: 1127 * np.log(1 + f / 700.0)
    step = (mel(high) - mel(low)) / (bands + 1)
    place = mel(np.arange(points // 2) * rate / points)
    banks = np.zeros((bands, points // 2 + 1), np.float32)
    for i in range(bands):
        left, centre, right = (mel(low) + (i + k) * step for k in range(3))
        banks[i, : points // 2] = np.maximum(0, np.minimum((place - left) / (centre - left), (right - place) / (right - centre)))
    return banks


BANKS, WINDOW = torch.from_numpy(mel_banks()), torch.hamming_window(400, periodic=False)


def fbank(x):
    """Converts samples from -1 to 1 to features [frames, 80]. A frame has 25 ms, and a frame begins every 10 ms.

    The last incomplete frame is left out. There is no dither, and no normalisation of the mean."""
    x = torch.as_tensor(x, dtype=torch.float32) * 32768
    if len(x) < 400:
        return torch.zeros(0, 80)
    f = x.unfold(0, 400, 160)
    f = f - f.mean(1, keepdim=True)
    f = torch.cat([f[:, :1] * (1 - 0.97), f[:, 1:] - 0.97 * f[:, :-1]], 1) * WINDOW
    return torch.log(torch.clamp(torch.fft.rfft(f, 512).abs() ** 2 @ BANKS.T, min=1.1920929e-07))


def worn(f):
    """Changes features [batch, frames, 80] at random, as an echo, another microphone, noise or a telephone would."""
    batch, frames, _ = f.shape
    e = torch.exp(f)
    echoing = (torch.rand(batch) < 0.4).float()[:, None, None]
    decay, share = torch.rand(batch, 1, 1) * 0.55 + 0.2, torch.rand(batch, 1, 1) * 0.5
    tail = torch.zeros_like(e)
    for k in range(1, 9):
        tail[:, k:] += decay ** k * e[:, :-k]
    e = e + echoing * share * tail
    smooth = lambda points, size: F.interpolate(torch.randn(batch, 1, points) * size, size=80, mode="linear", align_corners=True)
    e = e * torch.exp(smooth(6, 1.0))
    level = e.mean((1, 2), keepdim=True)
    ratio = 10 ** (-(torch.rand(batch, 1, 1) * 42 + 3) / 10)
    colour = torch.exp((torch.rand(batch, 1, 1) * 4 - 1) * torch.linspace(1, -1, 80) + smooth(8, 0.5))
    flutter = torch.exp(torch.randn(batch, frames, 80) * 0.9 / torch.linspace(1.5, 9, 80).sqrt())
    e = e + level * ratio * colour / colour.mean(2, keepdim=True) * flutter
    f = torch.log(e + 1e-6)
    return torch.where((torch.rand(batch) < 0.2)[:, None, None], telephone(f), f)


def telephone(f):
    """Changes features as a telephone would: the sound has a rate of 8 kHz before it is converted to 16 kHz.

    The upper bands contain only rounding noise. The lowest bands may be weaker too."""
    batch, frames, _ = f.shape
    band = torch.arange(80.0)[None]
    high = torch.rand(batch, 1) * 6 + 56
    low = torch.rand(batch, 1) * 11 * (torch.rand(batch, 1) < 0.6)
    shape = -torch.clamp((band - high) * (torch.rand(batch, 1) + 0.4) * 3, min=0) - torch.clamp((low - band) * 0.5, min=0)
    noisy = torch.rand(batch, 1, 1) < 0.7
    floor = torch.where(noisy, 3.0 + torch.linspace(0.3, 2.6, 80) + torch.randn(batch, 1, 1) * 0.7, torch.tensor(-15.9))
    floor = floor + torch.randn(batch, frames, 80) * torch.linspace(0.9, 0.3, 80) * noisy
    return torch.logaddexp(f + shape[:, None], floor)
