"""Score translations by COMET: the only code that uses its package, in an environment without nmtcore.

Call: python run_comet.py MODEL [--device DEVICE] [--batch SENTENCES] < TABLE. The model is the folder of a COMET model,
with hparams.yaml and checkpoints/model.ckpt as on huggingface.co/Unbabel; the device is auto, cpu or cuda. The table
has a JSON object per line (source, translation, reference). Prints a line with # and the signature, then a number for
each line. Nothing is downloaded.
"""

import argparse
import json
import os
import sys


def use_gpu(device):
    """Return whether to use a GPU."""
    if device == "auto":
        import torch

        return torch.cuda.is_available()
    return device == "cuda"


def run_comet(sentences, model, device, batch):
    """Return the version of COMET and the scores of sentences."""
    try:
        import comet
    except ImportError as error:
        sys.exit(f"{sys.executable} cannot import comet ({error}): install unbabel-comet there, or use conda.")
    checkpoint = os.path.join(model, "checkpoints", "model.ckpt")
    try:
        loaded = comet.load_from_checkpoint(checkpoint, local_files_only=True)
    except OSError as error:
        sys.exit(
            f"{checkpoint} cannot be loaded ({error}). If its encoder is missing: {model}/hparams.yaml names it "
            "(pretrained_model), and its configuration and tokeniser must be in the cache of Hugging Face (HF_HOME)."
        )
    gpu = use_gpu(device)
    devices = {"gpus": 1 if gpu else 0, "accelerator": "gpu" if gpu else "cpu"}
    prediction = loaded.predict(sentences, batch_size=batch, progress_bar=False, **devices)
    return comet.__version__, prediction.scores


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch", type=int, default=16)
    chosen = parser.parse_args()
    names = {"src": "source", "mt": "translation", "ref": "reference"}
    rows = map(json.loads, sys.stdin)
    sentences = [{short: row[name] for short, name in names.items()} for row in rows]
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # messages of packages are no scores
    version, scores = run_comet(sentences, chosen.model, chosen.device, chosen.batch)
    name = os.path.basename(chosen.model)
    print(f"# COMET|model:{name}|version:{version}", *map(float, scores), sep="\n", file=output, flush=True)
