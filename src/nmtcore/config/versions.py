"""The version of each stage's output, raised by hand when the output changes its meaning.

Rules pass it in `params:`, so that a raised version reruns the stage and all later ones, and an edited comment in a
script reruns nothing. A changed default reruns nothing either (`changed` in `config/typed.py`): if you change one,
raise the version of every stage that it affects. `tests/config/defaults.yaml` records the defaults, and a test compares
them.
"""

VERSIONS = {
    "download": 2,
    "corpus": 8,
    "annotation": 2,
    "segmentation": 2,
    "features": 2,
    "training": 3,
    "inference": 7,
    "evaluation": 4,
    "reporting": 12,
}

MANIFESTS = 4
"""The version of the manifests of runs: if it is raised, scoring, which writes them, is repeated."""
