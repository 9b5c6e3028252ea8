"""Run times from Snakemake's benchmark files."""

import pytest

from nmtcore.errors import UserError
from nmtcore.reporting.benchmarks import benchmark_seconds

HEADER = "s\th:m:s\tmax_rss\n"


def test_seconds_are_summed_and_unmeasured_jobs_count_as_zero(tmp_path):
    (tmp_path / "a.tsv").write_text(f"{HEADER}1.5\t0:00:01\t3\n2\t0:00:02\t-\n")
    (tmp_path / "b.tsv").write_text(f"{HEADER}nan\tNA\tNA\n")
    (tmp_path / "c.tsv").write_text(HEADER)
    assert benchmark_seconds([tmp_path / "a.tsv", tmp_path / "b.tsv", tmp_path / "c.tsv"]) == 3.5
    assert benchmark_seconds([tmp_path / "c.tsv"]) is None
    assert benchmark_seconds([]) is None


@pytest.mark.parametrize("text", ["time\n3\n", f"{HEADER}soon\t\t\n", "s\tx\n\t1\n"])
def test_a_file_that_is_no_benchmark_is_an_error(tmp_path, text):
    path = tmp_path / "a.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=r"a\.tsv is no benchmark of Snakemake"):
        benchmark_seconds([path])
    with pytest.raises(UserError, match="does not exist"):
        benchmark_seconds([tmp_path / "b.tsv"])
