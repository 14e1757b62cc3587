"""Calls each endpoint that has OpenAI's interface, with OpenAI's Python package. Prints the results as JSON.

Arguments: the base URL, an API key, and the path of a clip. openai-walk.ts makes the same calls.
"""

import json
import sys

from openai import APIError, OpenAI

base_url, key, clip = sys.argv[1:]
client = OpenAI(api_key=key, base_url=base_url, max_retries=0)
results = {}


def shown(result):
    return result if isinstance(result, str) else json.loads(result.model_dump_json(exclude_unset=True))


def transcribe(**fields):
    with open(clip, "rb") as file:
        return client.audio.transcriptions.create(file=file, model="whisper-1", **fields)


def stream(**fields):
    return [shown(event) for event in transcribe(stream=True, **fields)]


def translate(**fields):
    with open(clip, "rb") as file:
        return client.audio.translations.create(file=file, model="whisper-1", **fields)


def fault(call):
    try:
        call()
    except APIError as error:
        return [error.status_code, error.type, error.param, error.code]
    return None


for response_format in ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"]:
    results[response_format] = shown(transcribe(response_format=response_format))
both = ["word", "segment"]
results["granularities"] = shown(transcribe(response_format="verbose_json", timestamp_granularities=both))
results["options"] = shown(
    transcribe(
        language="en",
        prompt="Ann",
        temperature=0.2,
        include=["logprobs"],
        chunking_strategy={"type": "server_vad", "threshold": 0.5},
    )
)
results["stream"] = stream()
results["diarized stream"] = stream(response_format="diarized_json", chunking_strategy="auto")
for response_format in ["json", "text", "srt", "vtt", "verbose_json"]:
    results["translated " + response_format] = shown(translate(response_format=response_format))
results["models"] = [model.id for model in client.models.list()]
results["model"] = client.models.retrieve("whisper-1").id

stranger = OpenAI(api_key="sk_live_nobody", base_url=base_url, max_retries=0)
results["faults"] = [
    fault(lambda: transcribe(response_format="doc")),
    fault(lambda: transcribe(timestamp_granularities=["word"])),
    fault(lambda: transcribe(language="english")),
    fault(lambda: transcribe(temperature=2)),
    fault(lambda: client.audio.transcriptions.create(file=("a.mp3", b"not audio"), model="m")),
    fault(lambda: client.audio.transcriptions.create(file=("a.mp3", b""), model="m")),
    fault(lambda: client.audio.transcriptions.create(file=("a.mp3", b"x"), model="m", stream=True)),
    fault(lambda: client.models.retrieve("gpt-5")),
    fault(lambda: stranger.models.list()),
]
print(json.dumps(results))
