"""Measures Whisper's encoder and decoder of Hugging Face transformers on the GPU, with random weights.

python gpu.py '{"width": 1280, "heads": 20, "encoderLayers": 32, "decoderLayers": 4, "mels": 128, "vocabulary": 51866}' ROWS STEPS

ROWS is a list of batch sizes, such as 1,8,32. Prints one JSON object for each batch size: the milliseconds of the
encoder for a window, of the first step of a batch, and of each further step.
"""
import json
import sys
import time

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration


def load(size):
    heads, layers = size["heads"], (size["encoderLayers"], size["decoderLayers"])
    config = WhisperConfig(
        vocab_size=size["vocabulary"], num_mel_bins=size["mels"], d_model=size["width"],
        encoder_layers=layers[0], decoder_layers=layers[1],
        encoder_attention_heads=heads, decoder_attention_heads=heads,
        encoder_ffn_dim=4 * size["width"], decoder_ffn_dim=4 * size["width"],
    )
    torch.set_default_dtype(torch.float16)
    with torch.device("cuda"):
        return WhisperForConditionalGeneration(config).eval()


def milliseconds(run):
    torch.cuda.synchronize()
    before = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - before)


@torch.inference_mode()
def measure(model, mels, rows, steps):
    picture = torch.zeros(1, mels, 3000, device="cuda", dtype=torch.float16)
    encoder = model.model.encoder
    states = encoder(picture).last_hidden_state.expand(rows, -1, -1).contiguous()
    state = {}

    def decode(tokens):
        out = model(decoder_input_ids=tokens, encoder_outputs=(states,), past_key_values=state.get("cache"), use_cache=True)
        state["cache"] = out.past_key_values
        state["tokens"] = out.logits[:, -1:].argmax(-1)

    def more():
        for _ in range(steps):
            decode(state["tokens"])

    prompt = torch.full((rows, 3), 50258, device="cuda")
    for _ in range(2):  # The first round is a warm-up, and is not counted.
        state.clear()
        start = milliseconds(lambda: decode(prompt))
        further = milliseconds(more) / steps
    window = milliseconds(lambda: [encoder(picture) for _ in range(20)]) / 20
    return {"encoderMs": window, "startMs": start, "stepMs": further}


if __name__ == "__main__":
    dimensions = json.loads(sys.argv[1])
    model = load(dimensions)
    for rows in sys.argv[2].split(","):
        print(json.dumps(measure(model, dimensions["mels"], int(rows), int(sys.argv[3]))), flush=True)
