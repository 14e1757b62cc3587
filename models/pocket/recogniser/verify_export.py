"""Compares the exported graphs with the checkpoint: python verify_export.py CHECKPOINT.pt FOLDER

First, the matrices of the checkpoint are rounded as in the exported files. So the scores of the 32-bit files must be
almost equal to the scores of the checkpoint. The `_quantized` files must only choose the same tokens."""
import sys

import numpy as np
import torch

import tokens as T
from evaluate import Recogniser
from export import rounded
from model import Pocket

saved = torch.load(sys.argv[1], weights_only=False)
dims = dict(saved["dims"])
model = Pocket(**dims).eval()
state = {}
for name, value in saved["model"].items():
    if value.ndim >= 2 and not name.startswith(("phone", "word")) and "positional" not in name or name == "decoder.positional_embedding":
        small, scale = rounded(name, value.T.numpy() if ".mlp." in name else value.numpy())
        small = small.astype(np.float32) * (1 if scale is None else scale)
        value = torch.from_numpy(small.T.copy() if ".mlp." in name else small)
    state[name] = value
model.load_state_dict(state)
rows = {i: n for n, i in enumerate(saved["ids"])}
torch.manual_seed(0)
mel = torch.randn(1, 80, 3000) * 0.3
said = [i for i in saved["ids"] if i < T.EOT]
ids = [T.SOT, 50259, T.TRANSCRIBE, T.TIME + 10] + said[:: len(said) // 20] + [T.TIME + 80, T.EOT]
with torch.no_grad():
    sound = model.encoder(mel)
    x, seen = model.decoder(torch.tensor([[rows[i] for i in ids]]), sound, range(dims["decoder_layers"]))
    logits = model.logits(x)[0].numpy()
expected = np.repeat(logits[:, -1:], T.VOCABULARY, 1)
expected[:, saved["ids"]] = logits[:, :-1]
for suffix in ("", "_quantized"):
    onnx = Recogniser(sys.argv[2], suffix)
    heard = onnx.encoder.run(None, dict(input_features=mel.numpy()))[0]
    whole, _ = onnx.step(ids, heard)
    first, past = onnx.step(ids[:4], heard)
    steps = [first["logits"][0]]
    for i in ids[4:]:
        out, past = onnx.step([i], heard, past)
        steps.append(out["logits"][0])
    steps = np.concatenate(steps)
    print(f"{suffix or 'float32'}: sound {np.abs(heard - sound.numpy()).max():.5f}, logits {np.abs(whole['logits'][0] - expected).max():.5f}, "
          f"attention {max(np.abs(whole[f'cross_attentions.{i}'] - seen[i].numpy()).max() for i in seen):.5f}, "
          f"cached against whole {np.abs(steps - whole['logits'][0]).max():.5f}, "
          f"same best token {100 * (steps.argmax(-1) == expected.argmax(-1)).mean():.0f} %, shape {whole['logits'].shape}")
