"""Score translations by COMET: the only code that uses its package, in an environment without nmtcore.

Call: python run_comet.py INPUT OUTPUT. The input is a JSON file with `checkpoint` (path), `batch` (sentences), `device`
(auto, cpu or cuda) and `sentences`, a list of {"src", "mt", "ref"}. The output is a JSON file with the package's
`version` and `scores`, one number per sentence. Nothing is downloaded.
"""

import json
import os
import sys


def use_gpu(device):
    """Return whether to use a GPU."""
    if device == "auto":
        import torch

        return torch.cuda.is_available()
    return device == "cuda"


def run_comet(task):
    """Return the version of COMET and the scores of a task's sentences."""
    try:
        import comet
    except ImportError as error:
        sys.exit(f"{sys.executable} cannot import comet ({error}): install unbabel-comet there, or use conda.")
    try:
        model = comet.load_from_checkpoint(task["checkpoint"], local_files_only=True)
    except OSError as error:
        sys.exit(
            f"{task['checkpoint']} cannot be loaded ({error}). If its encoder is missing: hparams.yaml names it "
            "(pretrained_model), and its configuration and tokeniser must be in the cache of Hugging Face (HF_HOME)."
        )
    gpu = use_gpu(task["device"])
    devices = {"gpus": 1 if gpu else 0, "accelerator": "gpu" if gpu else "cpu"}
    prediction = model.predict(task["sentences"], batch_size=task["batch"], progress_bar=False, **devices)
    return {"version": comet.__version__, "scores": [float(score) for score in prediction.scores]}


if __name__ == "__main__":
    source, output = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        result = run_comet(json.load(file))
    try:
        with open(f"{output}.partial", "w", encoding="utf-8") as file:
            json.dump(result, file)
        os.replace(f"{output}.partial", output)
    except OSError as error:
        if os.path.exists(f"{output}.partial"):
            os.remove(f"{output}.partial")
        sys.exit(f"{output} cannot be written ({error.strerror}): free some space and start again.")
