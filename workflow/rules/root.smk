# Where the files of this workflow are, for ../Snakefile.
import os
import tarfile
import tempfile
from pathlib import Path


def root_snakefile():
    """Return the path of the Snakefile in the root; in a copy of the repository if Snakemake reads it from GitHub.

    Rules need more files than Snakemake fetches: the package and the configuration. Copies are kept, one per commit.
    """
    folder = workflow.current_basedir
    if not hasattr(folder, "hosted_repo"):
        return "../Snakefile"
    commit = folder.hosted_repo.repo.commit(folder.ref)
    copy = Path(workflow.sourcecache.cache_path, "nmtcore", commit.hexsha)
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        with (
            tempfile.TemporaryDirectory(dir=copy.parent) as new,
            open(f"{new}/tar", "w+b") as archive,
        ):
            commit.repo.archive(archive, commit)
            archive.seek(0)
            with tarfile.open(fileobj=archive) as files:
                # Python before 3.11.4 knows no filters.
                files.extraction_filter = getattr(tarfile, "data_filter", None)
                files.extractall(f"{new}/files")
            try:
                os.rename(f"{new}/files", copy)
            except OSError:
                if not copy.exists():  # else another process was faster
                    raise
    return str(copy / "Snakefile")
