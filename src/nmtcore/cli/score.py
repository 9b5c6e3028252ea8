"""The command `nmtcore score`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.streams import write_output

_HELP = "Score and compare files of translations from anywhere: nmtcore score REF HYP [HYP ...]"


def add_score(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("score", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_score)
    command.add_argument(
        "references", metavar="REF", type=Path, help="the references, one line per sentence, perhaps compressed"
    )
    command.add_argument(
        "systems",
        metavar="HYP",
        nargs="+",
        help="a system: a file of translations, or a pattern in quotation marks with one file per seed, for example "
        "'mine/seed*.txt'; NAME='mine/seed*.txt' gives it a name. The others are compared with the first",
    )
    command.add_argument(
        "--tokenize",
        choices=["13a", "none", "intl", "ja", "zh", "char"],
        help="sacreBLEU's tokeniser for BLEU and RIBES; ja: KyTea's words if it is installed, else MeCab's; "
        "zh: Chinese characters; char: all characters, for Thai and the like [13a]",
    )
    command.add_argument("--lowercase", action="store_true", help="ignore case")
    command.add_argument(
        "--tokens", action="store_true", help="the texts are tokens joined by spaces; the signatures then say so"
    )
    command.add_argument("--ribes", action="store_true", help="also RIBES")
    command.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="also a metric of your own, config/metrics/NAME.py in the current folder (may be repeated)",
    )
    command.add_argument(
        "--multi-bleu", action="store_true", help="also BLEU as Moses's multi-bleu.perl computes it, of the given words"
    )
    command.add_argument(
        "--all", action="store_true", help="a table per metric, with intervals, p-values and the agreement of judges"
    )


def _run_score(chosen: argparse.Namespace) -> None:
    from nmtcore.config.training import EvaluationSettings
    from nmtcore.config.typed import choose
    from nmtcore.corpus.writing_systems import tokeniser_needed
    from nmtcore.evaluation.metrics import METRICS
    from nmtcore.evaluation.outputs import read_files
    from nmtcore.reporting.listings import score_report

    evaluation = EvaluationSettings(
        text="tokens" if chosen.tokens else "detokenised", tokenize=chosen.tokenize or "13a", lowercase=chosen.lowercase
    )
    for name in chosen.metric:
        choose(name, METRICS, noun="metric", where="--metric")
    metrics = ["bleu", "chrf", *["ribes"] * chosen.ribes, *["multi_bleu"] * chosen.multi_bleu]
    metrics = list(dict.fromkeys([*metrics, *chosen.metric]))
    outputs = read_files(chosen.references, chosen.systems)
    needed = None if chosen.tokenize or chosen.tokens else tokeniser_needed(outputs.references)
    if needed is not None:
        advice = f"the text has no spaces, which BLEU's words need: add --tokenize {needed}."
        print(f"{chosen.references}: {advice}", file=sys.stderr)
    write_output(score_report(outputs, evaluation, metrics=metrics, every=chosen.all))
