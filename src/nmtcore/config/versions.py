"""The version of each stage's output, raised by hand when the output changes its meaning.

Rules pass it in `params:`, so that a raised number reruns the stage and what builds on it, and a comment edited in
a script reruns nothing. The default of a setting reruns nothing either (`config/defaults.py`): whoever changes one
raises the number of every stage that it concerns. `tests/config/defaults.yaml` holds the defaults and tells.
"""

VERSIONS = {
    "download": 2,
    "corpus": 4,
    "annotation": 2,
    "segmentation": 2,
    "features": 2,
    "training": 1,
    "inference": 2,
    "evaluation": 1,
    "reporting": 2,
}
