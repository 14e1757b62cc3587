"""Scores diarization with pyannote.metrics: python judge.py FOLDER    (needs pyannote.metrics)

FOLDER contains the reference NAME.truth.rttm and the result NAME.said.rttm of each recording. The score uses no collar
and includes overlapping speech. Prints JSON: for each name, the error rate and its three parts: missed speech, false
speech, and speech with the wrong speaker. All are shares of the speech in the reference.
"""
import glob
import json
import os
import sys

from pyannote.core import Annotation, Segment
from pyannote.metrics.diarization import DiarizationErrorRate


def read(path):
    annotation = Annotation()
    for track, line in enumerate(open(path)):
        fields = line.split()
        start, duration = float(fields[3]), float(fields[4])
        annotation[Segment(start, start + duration), track] = fields[7]
    return annotation


scores = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.truth.rttm"))):
    name = os.path.basename(path)[: -len(".truth.rttm")]
    metric = DiarizationErrorRate(collar=0.0, skip_overlap=False)
    found = metric(read(path), read(path.replace(".truth.", ".said.")), detailed=True)
    scores[name] = {
        "rate": found["diarization error rate"],
        "missed": found["missed detection"] / found["total"],
        "added": found["false alarm"] / found["total"],
        "confused": found["confusion"] / found["total"],
    }
print(json.dumps(scores))
