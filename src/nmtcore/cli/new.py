"""The command `nmtcore new`: write files of one's own to begin with, of a data set, a component or a sweep."""

import argparse
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import chdir
from importlib.util import cache_from_source
from pathlib import Path

from nmtcore.cli.options import folder_path, positive_number, whole_number

_DATASET = "Look at parallel text of your own, say what is in it, and write the file of a data set that reads it."
_FILES = {
    "train": "source and target file, one sentence per line, or one file with both sides (tsv, tmx)",
    "dev": "the same",
    "test": "the same; NAME=SOURCE,TARGET gives one of several tests a name",
    "gold": "a treebank (CoNLL-U) to compare parsers with: NAME=SOURCE, NAME=SOURCE,TARGET or NAME=,TARGET",
}
_FORMATS = ("plain", "tsv", "tmx", "sgm", "conllu", "czeng")
_SWEEP = "Write a system for each combination of some settings, and a table that chooses among them by dev scores."
_SWEEP_EXAMPLE = "Example: nmtcore new sweep pascal components.pascal.heads=1,2,4. docs/how-to/sweep.md leads on."
_COMPONENT = "Write the files of a component of your own: its code, a system that has it, and a test that fails."
_COMPONENT_EXAMPLE = "Example: nmtcore new component root_vector --folder mine. docs/how-to/component.md leads on."
_EXAMPLE = (
    "Example: nmtcore new dataset captions --folder mine --source cs --target en --train train.cs train.en "
    "--dev val.cs val.en --test test.cs test.en. Files may be compressed; ARCHIVE:MEMBER names a file in an archive. "
    "For several training corpora, repeat --train; for several tests, --test news=news.cs,news.en --test "
    "web=web.cs,web.en. A treebank alone: nmtcore new dataset trees --source en --gold pud=en_pud.conllu"
)


def add_new(commands: argparse._SubParsersAction) -> None:
    """Add the command and what it can write."""
    command = commands.add_parser("new", help="Write files of your own to begin with: nmtcore new dataset NAME ...")
    things = command.add_subparsers(dest="thing", required=True, metavar="THING")
    dataset = things.add_parser("dataset", help=_DATASET, description=_DATASET, epilog=_EXAMPLE)
    dataset.set_defaults(run=_run_new_dataset)
    dataset.add_argument("name", metavar="NAME", help="name of the data set: small letters, digits, underscores")
    dataset.add_argument("--source", required=True, metavar="CODE", help="language of the source side (cs)")
    dataset.add_argument("--target", metavar="CODE", help="language of the target side (en)")
    for split in ("train", "dev", "test"):
        dataset.add_argument(f"--{split}", nargs="+", action="append", default=[], metavar="FILE", help=_FILES[split])
    dataset.add_argument("--gold", action="append", default=[], metavar="NAME=FILE", help=_FILES["gold"])
    # The names are those of `config.formats` and `new.known_parsers`, which would be slow to import here.
    dataset.add_argument(
        "--format",
        type=_format,
        action="append",
        default=[],
        metavar="[SPLIT=]FORMAT",
        help=f"{', '.join(_FORMATS)}: format of the files of a split (test=sgm), or of all but --gold; may be repeated "
        "[by the endings and first bytes of files]",
    )
    dataset.add_argument(
        "--columns",
        nargs=2,
        type=positive_number,
        metavar=("SOURCE", "TARGET"),
        help="columns of tables (tsv), which count from 1 [1 2]",
    )
    dataset.add_argument("--separator", metavar="TEXT", help="what is between the columns of tables [a tab]")
    dataset.add_argument("--header", action="store_true", help="the first line of tables names the columns")
    dataset.add_argument(
        "--max-bad-lines",
        type=whole_number,
        metavar="N",
        help="drop and count up to N lines of each split that cannot be read [1 %% of them]",
    )
    dataset.add_argument(
        "--parser",
        choices=["stanza", "spacy", "udpipe", "corenlp", "none"],
        help="parser for systems that read trees [one whose model is on this machine, else one to be downloaded]",
    )
    dataset.add_argument(
        "--folder",
        type=folder_path,
        default=Path(),
        help="working folder: the file is config/datasets/NAME.yaml in it [the current folder]",
    )
    dataset.add_argument(
        "--models", action="append", default=[], metavar="FOLDER", help="as `models` in config.yaml (may be repeated)"
    )
    dataset.add_argument("--force", action="store_true", help="replace a data set of this name")

    component = _add_own(things, "component", _run_new_component, _COMPONENT, _COMPONENT_EXAMPLE)
    component.add_argument("name", metavar="NAME", help="name of the component: small letters, digits, underscores")
    sweep = _add_own(things, "sweep", _run_new_sweep, _SWEEP, _SWEEP_EXAMPLE)
    sweep.add_argument("system", metavar="SYSTEM", help="the system that all trials extend")
    setting = "a setting of the system, and its values (training.schedule.peak=1e-3,2e-3); of several, all combinations"
    sweep.add_argument("settings", nargs="+", metavar="KEY=VALUE,VALUE", help=setting)
    sweep.add_argument("--name", metavar="NAME", help="name of the files, and beginning of the names [SYSTEM_sweep]")
    sweep.add_argument("--dataset", metavar="NAME", help="data set to choose on [the first one in config.yaml]")


def _format(text: str) -> tuple[str, str]:
    """Split [SPLIT=]FORMAT; the split is "" for all."""
    split, _, format = text.rpartition("=")
    if format not in _FORMATS:
        raise argparse.ArgumentTypeError(f"'{format}' is not one of {', '.join(_FORMATS)}")
    return split, format


def _add_own(
    things: argparse._SubParsersAction, thing: str, run: Callable[[argparse.Namespace], None], help: str, example: str
) -> argparse.ArgumentParser:
    command = things.add_parser(thing, help=help, description=help, epilog=example)
    command.set_defaults(run=run)
    command.add_argument(
        "--folder", type=folder_path, default=Path(), help="working folder to write the files to [the current folder]"
    )
    return command


def _make_folder(folder: Path) -> Path:
    """Make a working folder unless it is there, say so, and return its absolute path."""
    absolute = folder.resolve()
    if not absolute.exists():
        absolute.mkdir(parents=True)
        print(f"Made the folder {folder}.")
    absolute.mkdir(exist_ok=True)  # an error if it is a file
    return absolute


def _run_new_component(chosen: argparse.Namespace) -> None:
    from nmtcore.config.project import project_of_folder
    from nmtcore.files import write_texts
    from nmtcore.new.component import new_component_files
    from nmtcore.schemas import write_schemas

    folder = _make_folder(chosen.folder)
    with chdir(folder):
        project = project_of_folder(folder, datasets=[], systems=[])
        files = new_component_files(chosen.name, project, Path())
        write_texts(files)
        try:
            write_schemas(Path("config/schemas"))  # so that editors know the new component's keys
        except BaseException:
            for path in files:
                path.unlink(missing_ok=True)
                if path.suffix == ".py":  # the schemas import the component, which Python then keeps compiled
                    Path(cache_from_source(str(path))).unlink(missing_ok=True)
            raise
    code, system, test = (chosen.folder / path for path in files)
    print(f"Wrote {code}, {system} and {test}. Next:")
    print(f"  {program('pytest')} {shlex.quote(str(test))}    # fails, and says what to write in {code}")
    print(f"  {snakemake_command(chosen.folder)} results/smoke/demo_en2de/{chosen.name}.bleu")


def _run_new_sweep(chosen: argparse.Namespace) -> None:
    from nmtcore.config.project import project_of_folder
    from nmtcore.files import write_texts
    from nmtcore.new.sweep import new_sweep_files

    folder, name = _make_folder(chosen.folder), chosen.name or f"{chosen.system}_sweep"
    with chdir(folder):
        project = project_of_folder(folder, systems=[], **{"datasets": [chosen.dataset]} if chosen.dataset else {})
        write_texts(files := new_sweep_files(chosen.system, chosen.settings, project, name=name))
    print(f"Wrote {' and '.join(str(chosen.folder / path) for path in files)}. Next:")
    print(f"  {snakemake_command(chosen.folder)} results/tables/{name}_grid.md --config scale=small 'seeds=[1, 2]'")


def _run_new_dataset(chosen: argparse.Namespace) -> None:
    from nmtcore.config.project import own_folders, project_of_folder
    from nmtcore.files import write_texts
    from nmtcore.new import dataset as new
    from nmtcore.new.dataset_file import dataset_text
    from nmtcore.new.dataset_report import survey_lines
    from nmtcore.schemas import schema_texts

    source_column, target_column = chosen.columns or (None, None)
    columns = {"source_column": source_column, "target_column": target_column}
    columns |= {"separator": chosen.separator, "header": chosen.header}
    request = new.NewDataset(
        name=chosen.name,
        source=chosen.source,
        target=chosen.target or (chosen.source if chosen.gold and not chosen.train else ""),
        files=new.files_by_split(train=chosen.train, dev=chosen.dev, test=chosen.test, gold=chosen.gold),
        formats=dict(chosen.format),
        columns={name: value for name, value in columns.items() if value},
        max_bad_lines=chosen.max_bad_lines,
        parser=chosen.parser,
    )
    dataset = new.own_dataset(request)
    models, folder = own_folders(models=chosen.models), _make_folder(chosen.folder)
    with chdir(folder):  # as Snakemake does: relative folders in config.yaml start there
        # config.yaml may name the new data set already.
        changes = {"datasets": [], "systems": [], **models}
        project = project_of_folder(folder, **changes)
        path = new.check_new_name(chosen.name, project, force=chosen.force)
        parsers = new.own_parsers(request, dataset, project)
        survey = new.survey_own(request, dataset)
        print("\n".join(survey_lines(survey)))
        schemas = path.parent.parent / "schemas"
        texts = {} if schemas.exists() else schema_texts(schemas)
        write_texts({path: dataset_text(survey, parsers, config=path.parent.parent), **texts})
    print("\n" + "\n".join(_next_steps(chosen, chosen.folder / path.relative_to(folder))))


def _next_steps(chosen: argparse.Namespace, path: Path) -> list[str]:
    """Name the file, and commands to call next."""
    from nmtcore.config.project import own_folders

    models = own_folders(models=chosen.models)
    settings = {**models} if chosen.train else {"datasets": [chosen.name], **models}
    options = "".join(f" {shlex.quote(f'{key}={json.dumps(names)}')}" for key, names in settings.items())
    folder = "" if chosen.folder == Path() else f" --folder {shlex.quote(str(chosen.folder))}"
    folder += "".join(f" --models {shlex.quote(name)}" for name in chosen.models)
    target = f"results/small/{chosen.name}/transformer_base.bleu" if chosen.train else "results/tables/parsers.md"
    return [
        f"Wrote {path}. Next:",
        f"  {program('nmtcore')} check {chosen.name}{folder}",
        f"  {snakemake_command(chosen.folder)} {target}{options and ' --config' + options}",
    ]


def snakemake_command(folder: Path) -> str:
    """Write a call of Snakemake that can be typed where this command was, for a working folder."""
    from nmtcore.config.project import REPOSITORY

    ours, here = REPOSITORY / "Snakefile", Path("Snakefile")
    is_here = here.exists() and here.samefile(ours)
    snakefile = "" if is_here else f" -s {shlex.quote(str(ours))}"
    inside = "" if folder == Path() else f" -d {shlex.quote(str(folder))}"
    return f"{program('snakemake')}{snakefile}{inside} --cores 2"


def program(name: str) -> str:
    """Name a program beside this Python: by its name if the shell finds it, else by its path."""
    path = Path(sys.executable).with_name(name)
    return shlex.quote(str(path)) if path.exists() and shutil.which(name) != str(path) else name
