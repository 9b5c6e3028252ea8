"""The demo corpus in data/demo: what its README says of it."""

import hashlib
from itertools import chain

from demo_parts import DEMO

from nmtcore.config.project import Project


def test_the_checksums_are_those_of_the_files(root):
    project = Project([root / "config"], {})
    corpora = chain(*(project.dataset(name).corpora.values() for name in ("demo_en2de", "demo_de2en")))
    pins = {file.url: file.sha256 for corpus in corpora for files in corpus.files.values() for file in files}
    assert pins == {
        f"repository://data/demo/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in DEMO.glob("*.xz")
    }
