"""Every data set, corpus and model that is shipped, and the codes of languages."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from nmtcore.config.corpora import FileSettings
from nmtcore.config.datasets import DatasetSettings, PublishedSettings
from nmtcore.config.project import Project
from nmtcore.tables.papers import read_paper

CONFIG = Path(__file__).resolve().parents[2] / "config"
PROJECT = Project.load(CONFIG)
DATASETS = sorted(PROJECT.dataset_files)
TWINS = [name for name in DATASETS if name.startswith("rehearsal_")]
PAPERS = {"pham2018", "bugliarello2020", "tran2018", "aycock2021"}
SPACY_PIPELINES = {"cs_ud", "de_ud", "en_ud", "en_ccg_pmb"}
"""Pipelines that are only available next to the checkout."""
OTHER_PARSERS = {"name", "description", "annotators", "syntax", "segmentation_from"}
"""Fields in which the twins of small data sets differ; all twins have the same annotations in `syntax`."""
OTHER_TEXT = {"licence", "citation", "corpora", "splits", "selection", "published"}
OTHER_WORDS = ("rehearsal_cs2en", "rehearsal_cs2en_bpe")
"""Twins with plain text in place of CzEng's given words, and with one root per tree, unlike Treex's trees."""


def dataset_files(dataset: DatasetSettings) -> Iterator[tuple[str, FileSettings]]:
    for name, corpus in dataset.corpora.items():
        for files in corpus.files.values():
            for file in files:
                yield name, file


def every_file() -> Iterator[tuple[str, FileSettings]]:
    for name in DATASETS:
        for corpus, file in dataset_files(PROJECT.dataset(name)):
            yield f"{name}: {corpus}", file
    for name in PROJECT.model_files:
        for file in PROJECT.annotator_model(name).files:
            yield f"model {name}", file


def without_member(file: FileSettings) -> FileSettings:
    return replace(file, member=None, mirrors=tuple(replace(mirror, member=None) for mirror in file.mirrors))


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_has_a_recipe_a_licence_a_citation_and_parsers(name: str):
    dataset = PROJECT.dataset(name)
    assert PROJECT.first_recipe(name)
    assert all([dataset.licence, dataset.citation, dataset.description])
    for split in dataset.splits:
        assert dataset.sides(split) == ("source", "target") or split in dataset.treebanks
    assert not dataset.treebanks or "existing" in dataset.annotators
    models = {model for settings in dataset.annotators.values() for model in settings.models}
    assert models <= set(PROJECT.model_files) or name.startswith("rehearsal_"), "they can be downloaded"


def test_every_shared_corpus_is_used_and_has_a_licence_and_a_citation():
    used = {part.corpus for name in DATASETS for parts in PROJECT.dataset(name).splits.values() for part in parts}
    assert set(PROJECT.corpus_files) <= used
    for name in PROJECT.corpus_files:
        values = PROJECT.corpus_files.read(name)
        assert all(values[key] for key in ("licence", "citation")), name


def test_all_data_sets_agree_on_each_file():
    meanings = defaultdict(set)
    for _, file in every_file():
        meanings[file.name].add(without_member(file))
    assert [name for name, files in meanings.items() if len(files) > 1] == []


def test_every_file_has_a_safe_address_or_instructions():
    for owner, file in every_file():
        for address in [file.url, *(mirror.path for mirror in file.mirrors)]:
            assert address is None or "://" not in address or address.startswith(("https://", "repository://")), owner
        assert file.url or file.manual, f"{owner}: {file.name} cannot be downloaded"


def test_no_file_has_the_name_of_a_download_record():
    assert [file.name for _, file in every_file() if file.name.endswith(".json")] == []


def test_exactly_the_archives_have_a_member():
    for owner, file in every_file():
        archive = file.name.endswith((".tgz", ".zip", ".tar", ".tar.gz"))
        assert archive == (file.member is not None), f"{owner}: {file.name}"


def test_files_in_mirrors_have_the_pinned_checksums(shared: Path):
    checked = set()
    for owner, file in every_file():
        for mirror in file.mirrors:
            path = shared / "data" / mirror.path
            if path in checked:
                continue
            checked.add(path)
            data = path.read_bytes()
            assert mirror.length == len(data), owner
            assert mirror.sha256 == hashlib.sha256(data).hexdigest(), owner
    assert len(checked) > 40


def test_local_jars_have_the_pinned_checksums(shared: Path):
    pinned = {Path(file.name).name: file for file in PROJECT.annotator_model("corenlp").files if file.sha256}
    for name, file in pinned.items():
        data = (shared / "corenlp" / name).read_bytes()
        assert (file.length, file.sha256) == (len(data), hashlib.sha256(data).hexdigest()), name
    assert "stanford-corenlp-4.5.10.jar" in pinned


def test_every_data_set_of_a_paper_has_a_rehearsal():
    for name in DATASETS:
        of_paper = PROJECT.first_recipe(name) in PAPERS and not name.startswith(("rehearsal_", "czeng_sample_"))
        assert not of_paper or f"rehearsal_{name}" in TWINS, name


@pytest.mark.parametrize("name", TWINS)
def test_a_rehearsal_only_differs_in_its_text_and_parsers(name: str):
    """That of a small data set only in its parsers, which are not those of the original."""
    twin, original = PROJECT.dataset(name), PROJECT.dataset(name.removeprefix("rehearsal_"))
    small = original.name.startswith(("multi30k_", "news_")) and not name.endswith("_corenlp")
    evaluation = replace(original.evaluation, greedy_dev=twin.evaluation.greedy_dev)
    original = replace(original, evaluation=replace(evaluation, roots="one") if name in OTHER_WORDS else evaluation)
    for field in fields(DatasetSettings):
        if field.name not in (OTHER_PARSERS if small else OTHER_PARSERS | OTHER_TEXT):
            same = getattr(twin, field.name) == getattr(original, field.name)
            assert same != (field.name == "words" and name in OTHER_WORDS), field.name
    if small:
        assert {settings.model for settings in twin.annotators.values() if settings.models} <= SPACY_PIPELINES
        assert not {settings.model for settings in original.annotators.values() if settings.models} & SPACY_PIPELINES
    else:
        assert twin.published == PublishedSettings()
    assert list(twin.splits) == list(original.splits)
    assert twin.treebanks == original.treebanks
    for split in original.splits:
        assert twin.sides(split) == original.sides(split), split
    assert {side: list(names) for side, names in twin.syntax.items()} == {
        side: list(names) for side, names in original.syntax.items()
    }
    if original.selection:
        assert twin.selection.parsed == original.selection.parsed
        assert (twin.selection.copies is None) == (original.selection.copies is None)
    assert (twin.segmentation_from or "").removeprefix("rehearsal_") == (original.segmentation_from or "")


@pytest.mark.parametrize("name", TWINS)
def test_a_rehearsal_only_needs_local_files_and_models(name: str, shared: Path):
    twin = PROJECT.dataset(name)
    for _, file in dataset_files(twin):
        assert not twin_uses(twin, file) or any((shared / "data" / m.path).is_file() for m in file.mirrors), file.name
    used = {annotator for annotators in twin.syntax.values() for annotator in annotators.values()}
    for annotator in used:
        for model in twin.annotators[annotator].models:
            assert (shared / "models" / model).exists() or (shared / model).exists(), model


def twin_uses(dataset: DatasetSettings, file: FileSettings) -> bool:
    used = {part.corpus for parts in dataset.splits.values() for part in parts}
    return any(file in files for corpus in used for files in dataset.corpora[corpus].files.values())


def test_no_part_of_a_corpus_is_in_two_splits():
    for name in DATASETS:
        dataset = PROJECT.dataset(name)
        seen: dict[tuple, str] = {}
        for split, parts in dataset.splits.items():
            for part in parts:
                for role, files in sorted(dataset.corpora[part.corpus].files.items()):
                    for file in files:
                        part_key = (role, file.name, file.member, part.first)
                        assert seen.get(part_key, split) == split, f"{name}: {split} and {seen.get(part_key)}"
                        seen[part_key] = split


def test_data_sets_for_induced_trees_have_gold_trees_and_tags_of_the_target():
    """Induced trees are compared with the gold trees of the source; gates are counted by the target's tags."""
    tested = []
    for name in DATASETS:
        dataset = PROJECT.dataset(name)
        if PROJECT.first_recipe(name) == "tran2018" or name.endswith(("multi30k_en2de", "multi30k_de2en")):
            assert dataset.source_treebanks("gold_"), name
            assert all(dataset.sides(split) == ("source",) for split in dataset.source_treebanks("gold_")), name
            annotations = dataset.syntax["source"].keys() & dataset.syntax["target"].keys()
            assert {"dependencies", "tags"} <= annotations, name
            tested.append(name)
    assert len(tested) > 4


TAGGED = {
    **dict.fromkeys(("wmt17_tr2en", "wmt17_tr2en_30k", "wmt17_tr2en_mono", "multi30k_de2en", "demo_de2en"), "target"),
    **dict.fromkeys(("rehearsal_wmt17_tr2en", "rehearsal_multi30k_de2en"), "target"),
    **dict.fromkeys(("multi30k_en2de", "rehearsal_multi30k_en2de", "demo_en2de"), "source"),
}
"""The English side of data sets for supertags."""


@pytest.mark.parametrize("name", TAGGED)
def test_data_sets_for_supertags_have_categories_in_english_and_trees_on_both_sides(name: str):
    dataset = PROJECT.dataset(name)
    assert [side for side, annotators in dataset.syntax.items() if "ccg" in annotators] == [TAGGED[name]]
    assert dataset.language(TAGGED[name]) == "en"
    assert all({"dependencies", "tags"} <= annotators.keys() for annotators in dataset.syntax.values())


def test_published_sizes_equal_the_papers():
    for paper in ("bugliarello2020", "tran2018"):
        table = read_paper(PROJECT, paper).tables["table_1"]
        sizes = defaultdict(dict)
        for cell in table.cells:
            if cell.metric == "pairs" and cell.published is not None:
                sizes[cell.dataset][cell.split] = cell.published
        for name, pairs in sizes.items():
            shared_splits = sizes[name.removesuffix("_filtered")]  # dev and test are not filtered
            assert PROJECT.dataset(name).published.pairs == {**shared_splits, **pairs}, name
    tables = read_paper(PROJECT, "aycock2021").tables
    tags = {cell.item: cell.published for cell in tables["tag_vocabulary"].cells if cell.metric == "types"}
    ours = PROJECT.dataset("wmt17_tr2en").published
    assert ours.tags == tags
    pairs = {split: tables["table_4_1"].cell("wmt17_tr2en", f"{split}/pairs") for split in ("train", "dev", "test")}
    sizes = {split: cell.published for split, cell in pairs.items()}
    assert ours.pairs == sizes
    mono = PROJECT.dataset("wmt17_tr2en_mono")
    copied = tables["table_4_1"].cell("wmt17_tr2en_mono", "train/copied_sentences").published
    assert mono.published.pairs["train"] == sizes["train"] + copied
    assert mono.segmentation_from == "wmt17_tr2en"
