# Download, read and filter parallel text.
from nmtcore.config.filters import filter_name
from nmtcore.corpus.download import missing_manual


@explained
def file_settings(name):
    """The settings of a corpus file by its name; every data set that names it must mean the same file."""
    found = {}
    for dataset in PROJECT.dataset_files:
        for corpus in PROJECT.dataset(dataset).corpora.values():
            found |= {(dataset, f): f for files in corpus.files.values() for f in files if f.name == name}
    if not found:
        raise UserError(f"{DOWNLOADS}/{name}: no data set names this file.")
    if len(set(found.values())) > 1:
        raise UserError(f"The data sets {', '.join(d for d, _ in found)} describe {name} differently: make them agree.")
    return next(iter(found.values()))


TOLD = set()


def split_files(wildcards):
    """The downloaded files of a split; says at once which of them must be fetched by hand and are not there."""
    dataset = dataset_of(wildcards)
    if wildcards.split not in dataset.splits:
        raise WorkflowError(f"{dataset.name} has no split '{wildcards.split}', only {', '.join(dataset.splits)}.")
    names = []
    for corpus in dict.fromkeys(part.corpus for part in dataset.splits[wildcards.split]):
        for files in dataset.corpora[corpus].files.values():
            for file in files:
                names.append(f"{DOWNLOADS}/{file.name}")
                warn_missing(file)
    return names


def warn_missing(file):
    sentence = missing_manual(file, manual_folder=Path(MANUAL), mirror_roots=SETTINGS.mirrors)
    if sentence and file.name not in TOLD and not os.path.exists(f"{DOWNLOADS}/{file.name}"):
        TOLD.add(file.name)
        logger.warning(sentence)


rule download:
    output:
        file=f"{DOWNLOADS}/{{file}}",
        record=f"{DOWNLOADS}/{{file}}.json",
    params:
        version=VERSIONS["download"],
        file=lambda wildcards: plain(file_settings(wildcards.file)),
    wildcard_constraints:
        file=r".+(?<!\.json)",
    log:
        f"{LOGS}/download/{{file}}.log",
    benchmark:
        f"{BENCHMARKS}/download/{{file}}.tsv"
    resources:
        mem_mb=1000,
        runtime=240,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/download.py"


rule read_split:
    input:
        split_files,
    output:
        pairs=f"{DATA}/corpus/raw/{{split}}.parquet",
        report=f"{DATA}/corpus/raw/{{split}}.json",
    params:
        version=VERSIONS["corpus"],
        dataset=dataset_param("words", "max_bad_lines"),
    log:
        f"{LOGS}/{{dataset}}/corpus/raw.{{split}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/corpus/raw.{{split}}.tsv"
    threads: 2
    resources:
        mem_mb=2000,
        runtime=240,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/read_split.py"


def other_splits(wildcards):
    """The splits that training pairs must not occur in, where the data set's filters say so."""
    dataset = dataset_of(wildcards)
    if wildcards.split != "train" or "held_out" not in map(filter_name, dataset.filters):
        return []
    return [f"{DATA}/corpus/raw/{split}.parquet".format(dataset=dataset.name) for split in dataset.tests]


rule filter_split:
    input:
        raw=f"{DATA}/corpus/raw/{{split}}.parquet",
        others=other_splits,
    output:
        pairs=f"{DATA}/corpus/{{split}}.parquet",
        report=f"{DATA}/corpus/{{split}}.json",
    params:
        version=VERSIONS["corpus"],
        dataset=dataset_param("filters"),
    log:
        f"{LOGS}/{{dataset}}/corpus/{{split}}.log",
    benchmark:
        f"{BENCHMARKS}/{{dataset}}/corpus/{{split}}.tsv"
    resources:
        mem_mb=2000,
        runtime=240,
    conda:
        "../../envs/core.yaml"
    script:
        "../scripts/filter_split.py"
