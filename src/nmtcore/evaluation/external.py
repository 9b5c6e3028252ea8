"""Import of translations made elsewhere: the files that a run of one of our own systems would have written."""

from collections.abc import Mapping
from pathlib import Path

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.text_lines import read_aligned_lines
from nmtcore.errors import explain_os_errors
from nmtcore.evaluation.outputs import read_references
from nmtcore.evaluation.scores import output_files
from nmtcore.files import read_json, write_lines
from nmtcore.parquet import read_rows


def import_translations(
    run: RunSettings, *, corpora: Mapping[str, Path], reports: Mapping[str, Path], hypotheses: Path
) -> list[str]:
    """Write the translations and references of every test of an external run into a folder; describe each as a line.

    The translation of a pair is the line of the run's file with the pair's number in the split, so pairs that reading
    dropped or that the scale leaves out are skipped. `corpora` (PAIR_SCHEMA) and `reports` (on reading) are files by
    split. Raises `UserError` if a file has not one line per pair, or is not UTF-8. It names no
    report: jobs advise to make results again that an error names, and here the file is wrong.
    """
    messages = []
    with explain_os_errors(hypotheses):
        hypotheses.mkdir(parents=True, exist_ok=True)
    for split, path in run.external.items():
        pairs = read_json(reports[split])["pairs"]
        lines = read_aligned_lines(path, count=pairs, split=f"the split {split} of {run.dataset}")
        rows = read_rows(corpora[split], columns=["id"], stop=run.sentences.of(split))
        translations = [lines[row["id"]] for row in rows]
        files = output_files(hypotheses, split)
        write_lines(files.translations, translations)
        write_lines(files.references, read_references(run, corpora[split], len(translations)))
        empty = sum(not line.strip() for line in translations)
        messages.append(f"{path}: {len(translations):,} of {pairs:,} lines used for {split}, {empty:,} of them empty")
    return messages
