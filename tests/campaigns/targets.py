"""Misspelt and odd targets: checked, or answered by one sentence with suggestions."""

from functools import cache
from pathlib import Path
from random import Random

from campaigns.run import ROOT
from nmtcore.planning.nearest_target import unknown_target

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.targets import check_target

TARGETS = (
    "results/smoke/demo_en2de/transformer_base.bleu", "results/multi30k_cs2en/depparse_l1.uas", "tables",
    "results/demo/demo_en2de/depparse_l1/seed1/model", "results/tables/pham2018_table_6_3.md", "data", "annotate",
    "results/demo_en2de/corpus/train.parquet", "results/smoke/demo_en2de/contrast.md", "results/report.html",
    "results/smoke/demo_en2de/depparse_l1/seed1/hypotheses/test.txt", "results/cs2en/depparse_l4.gold.uas",
)  # fmt: skip
ODD = (
    "",
    "/",
    "//",
    "..",
    "\n",
    "\x1b",
    "\ud800",
    "{",
    "}",
    "{seed}",
    "*",
    "'",
    "x" * 100,
    "日本",
    ".",
    " ",
    "0",
    "~",
    ":",
)


@cache
def _project() -> Project:
    return Project.load(ROOT / "config")


def attempt(random: Random, folder: Path) -> str:
    """Check a damaged target, and look for those that resemble it."""
    target = random.choice(TARGETS)
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(target) + 1)
        rest = target[place + random.randrange(4) :] if random.random() < 0.6 else target[place:]
        target = target[:place] + (random.choice(ODD) if random.random() < 0.6 else "") + rest
        if random.random() < 0.2:
            parts = target.split("/")
            random.shuffle(parts)
            target = "/".join(parts)
    makes = random.random() < 0.5
    sentence = unknown_target(
        _project(), target, rules=["data", "annotate", "tables"], files=["results/report.html"], makes=lambda _: makes
    )
    check_target(_project(), target)
    raise UserError(sentence)
