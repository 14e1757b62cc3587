"""Trains the recogniser: python train.py STEPS OUT.pt [RESUME.pt]

Environment: DATA (the folder of the shelves that speech.py makes), TRAIN (the names of the shelves), TOKENIZER and MEL
(published files), DEVICE (cpu or cuda), STAGES, RATE (the learning rate), HELD_STEPS, WORKERS (the number of processes
that make windows), THREADS. STAGES is a list of [from, [[seconds, batch, weight], ...]]: after the share `from` of all
steps, a batch has `batch` windows of `seconds` seconds, and `weight` is the relative frequency of such batches.
"""
import json
import math
import os
import pickle
import random
import sys
import time

import numpy as np
import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

import tokens as T
from model import LogMel, Pocket
from windows import Vocabulary, Windows, load

DATA = os.environ.get("DATA", "data")
NAMES = os.environ.get("TRAIN", "train11,train12").split(",")
TOKENIZER, MEL = os.environ.get("TOKENIZER", "tokenizer.json"), os.environ.get("MEL", "mel_filters.npz")
STAGES = json.loads(os.environ.get("STAGES", "[[0,[[4,8,1]]],[0.45,[[4,8,3],[10,4,1]]],[0.7,[[4,8,1],[30,2,1]]],[0.88,[[30,3,1]]]]"))
RATE = float(os.environ.get("RATE", "1.3e-3"))
DEVICE = os.environ.get("DEVICE", "cpu")
HELD_STEPS = float(os.environ.get("HELD_STEPS", "0"))  # the share of the steps on long windows that do not train the encoder, to save time
WARM_STEPS, FLOOR = 150, 0.03
STAMP_SPREAD = torch.tensor([0.054, 0.244, 0.404, 0.244, 0.054], device=DEVICE)  # the target probabilities of a time token and its neighbours


def vocabulary(names):
    from tokens import Tokenizer

    tokenizer = Tokenizer(TOKENIZER)
    rows = [row for name in names for row in pickle.load(open(f"{DATA}/{name}.pkl", "rb"))]
    return tokenizer, Vocabulary(tokenizer, rows)


def serve(queue, share, seed, tokenizer, words):
    torch.set_num_threads(1)
    source = Windows(tokenizer, words, load([f"{DATA}/{n}" for n in NAMES]), seed)
    mel = LogMel(MEL)
    while True:
        mix = [s for s in STAGES if s[0] <= share.value][-1][1]
        seconds, size, _ = source.r.choices(mix, [m[2] for m in mix])[0]
        queue.put((seconds, source.batch(size, seconds, mel)))


def hold_stem(model):
    """Scales the second convolution of the encoder after each step, towards an output power of 0.9.

    Whisper has no normalisation before the positions are added. Without this function, the output of the convolutions
    would grow during the training, until the positions had no effect."""
    power = float(model.encoder.stem_power.detach())
    model.power = power if not hasattr(model, "power") else 0.7 * model.power + 0.3 * power
    factor = min(1.05, max(0.95, (0.9 / model.power) ** 0.25))
    with torch.no_grad():
        model.encoder.conv2.weight.mul_(factor)
        model.encoder.conv2.bias.mul_(factor)
    model.power *= factor ** 2


def guidance(seen, heads, mask):
    """A loss that is high if only little of the attention of `heads` is on the sound of the token."""
    rows = mask.any(-1)
    inside = (seen[:, heads].float() * mask[:, None]).sum(-1).clamp(min=1e-6)
    return -(inside.log() * rows[:, None]).sum() / (len(heads) * rows.sum() + 1)


def evenness(seen, heads, mask):
    """A loss that is high if the attention of `heads` is uneven over the sound of the token.

    Attention with one sharp peak does not show where the token begins. Dynamic time warping could then put the start
    of a word at any place between two peaks."""
    frames = mask.sum(-1)
    spread = ((seen[:, heads].float() + 1e-4).log() * mask[:, None]).sum(-1) / frames.clamp(min=1)[:, None]
    unlike = -(spread + frames.clamp(min=1).log()[:, None]) * (frames > 0)[:, None]
    return unlike.sum() / (len(heads) * (frames > 0).sum() + 1)


# The heads whose attention is trained, as (layer, heads). SAYING attends to the sound of the predicted token. HEARD
# attends to the sound of the token before the predicted token.
SAYING, HEARD = (1, [0, 1, 2]), (0, [0, 1])
ALIGNMENT_HEADS = [[SAYING[0], h] for h in SAYING[1]]


def losses(model, batch, words, hold_encoder=False):
    with torch.autocast(DEVICE, torch.bfloat16):
        with torch.set_grad_enabled(not hold_encoder):
            sound = model.encoder(batch["mel"], batch["offsets"])
        x, seen = model.decoder(batch["inputs"], sound.repeat_interleave(2, 0), (0, 1))
        known = batch["targets"] >= 0
        logits = model.logits(x[known])
        frames = torch.rand(sound.shape[0] * sound.shape[1], device=DEVICE) < (0.5 if sound.shape[1] < 600 else 0.25)
        heard = sound.flatten(0, 1)[frames]
        phone, word = model.phone(heard), model.word(heard)
    logits = logits.float()
    logits[:, words.unused] += math.log(T.VOCABULARY - words.unused)
    target = batch["targets"][known]
    is_stamp = (target >= words.stamps) & (target < words.stamps + T.STAMPS)
    near = (target[:, None] + torch.arange(-2, 3, device=DEVICE)).clamp(words.stamps, words.stamps + T.STAMPS - 1)
    near = torch.where(is_stamp[:, None], near, target[:, None])
    token = -(logits.log_softmax(-1).gather(-1, near) * STAMP_SPREAD).sum(-1).mean()
    phone = F.cross_entropy(phone.float(), batch["phones"].flatten()[frames])
    word = F.cross_entropy(word.float(), batch["words"].flatten()[frames])
    saying = evenness(seen[SAYING[0]], SAYING[1], batch["saying"])
    heard = guidance(seen[HEARD[0]], HEARD[1], batch["heard"])
    with torch.no_grad():
        said = logits.argmax(-1)
        right = (said == target)[~is_stamp].float().mean()
        off = (said - target)[is_stamp].abs().clamp(max=200).float().mean() * 0.02
    scale = model.aux_scale
    return token + scale * (word + 0.6 * phone) + 0.2 * saying + 0.15 * heard, dict(
        token=token, word=word, phone=phone, saying=saying, heard=heard, right=right, off=off)


def main(steps, out, resume=None):
    torch.set_num_threads(int(os.environ.get("THREADS", "1")))
    torch.manual_seed(0)
    tokenizer, words = vocabulary(NAMES + ["held_sentences", "held_voices"])
    model = Pocket(words.unused + 1, words.stamps, len(words.phones) + 1, len(words.words) + 1).to(DEVICE)
    model.aux_scale = 1.0
    decay = [p for p in model.parameters() if p.ndim >= 2]
    rest = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([dict(params=decay, weight_decay=0.01), dict(params=rest, weight_decay=0.0)],
                                  lr=RATE, betas=(0.9, 0.98), fused=True)
    print("rows", words.unused + 1, "words", len(words.words), "phones", len(words.phones),
          "parameters", sum(p.numel() for p in model.parameters()), flush=True)
    done = 0
    if resume:
        saved = torch.load(resume, map_location=DEVICE, weights_only=False)
        assert saved["ids"] == words.ids, "another vocabulary"
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        done = saved["steps"]
    share, queue = mp.Value("d", 0.0), mp.Queue(6)
    for k in range(int(os.environ.get("WORKERS", "1"))):
        mp.Process(target=serve, args=(queue, share, 1000 + k + int(time.time()) % 100000, tokenizer, words), daemon=True).start()

    def save():
        torch.save(dict(model=model.state_dict(), optimizer=optimizer.state_dict(), dims=model.dims, steps=done,
                        ids=words.ids, phones=words.phones, words=words.words), out + ".part")
        os.replace(out + ".part", out)

    begin = saved_at = told_at = time.time()
    sums, waited = {}, 0.0
    for step in range(steps):
        share.value = step / steps
        t = time.time()
        seconds, batch = queue.get()
        waited += time.time() - t
        batch = {name: value.to(DEVICE) if torch.is_tensor(value) else value for name, value in batch.items()}
        model.aux_scale = 1.0 if share.value < 0.6 else 0.5
        rate = RATE * min(1, (step + 1) / (30 if resume else WARM_STEPS)) * max(FLOOR, 1 - share.value)
        for group in optimizer.param_groups:
            group["lr"] = rate
        hold_encoder = seconds > 5 and random.random() < HELD_STEPS
        loss, parts = losses(model, batch, words, hold_encoder)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if not hold_encoder:
            hold_stem(model)
        done += 1
        for name, value in parts.items():
            if not torch.isnan(value):
                sums.setdefault(name, []).append(value.item())
        if done % 100 == 0:
            now = time.time()
            print(f"{now - begin:.0f}s {done} {seconds}s windows {(now - told_at) / 100:.3f} s/step waited {waited / 100:.3f} "
                  + " ".join(f"{k}={np.mean(v):.3f}" for k, v in sums.items()), flush=True)
            sums, told_at, waited = {}, now, 0.0
        if time.time() - saved_at > 90:
            save()
            saved_at = time.time()
    save()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
