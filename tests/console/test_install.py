"""The installation's bar and its errors, with commands that are played."""

import subprocess
import sys

import pytest

from nmtcore.console import install as module
from nmtcore.console.install import FETCHING, install, install_or_exit, package_count, progress, reason

LOCK = "# Every package\na==1\n\nb==2\n"


def test_the_share_counts_fetched_and_unpacked_packages(tmp_path):
    log = tmp_path / "log"
    log.write_text("Collecting a==1\n  Downloading a\nRequirement already satisfied: b==2 in x\n")
    assert package_count(LOCK) == 2
    assert progress(log, tmp_path, 2) == (FETCHING, "unpacking 0 of 2")
    (tmp_path / "lib/python3.11/site-packages/a-1.dist-info").mkdir(parents=True)
    assert progress(log, tmp_path, 2) == (pytest.approx(FETCHING + (1 - FETCHING) / 2), "unpacking 1 of 2")
    assert progress(log, tmp_path, 3)[1] == "fetching 2 of 3"
    log.write_text("Collecting a==1\n  Downloading a\nProcessing /x/b-2.whl\n")
    assert progress(log, tmp_path, 2)[1] == "unpacking 1 of 2"
    for name in ("b", "pip", "own"):
        (tmp_path / f"lib/python3.11/site-packages/{name}-1.dist-info").mkdir()
    assert progress(log, tmp_path, 2)[0] == 0.99, "pip itself is not in the lock"


def test_errors_are_the_first_of_pip_or_the_last_line(tmp_path):
    log = tmp_path / "log"
    log.write_text("Collecting a\nERROR: No matching distribution found for a==1\nERROR: other\n\n")
    assert reason(log) == "No matching distribution found for a==1"
    log.write_text("python: no ensurepip\n\n")
    assert reason(log) == "python: no ensurepip"
    log.write_text("")
    assert reason(log) == "no output"
    log.write_text(
        "The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu "
        "systems, you need to install the python3-venv\npackage...\n\nFailing command: /x/.venv/bin/python3\n\n"
    )
    assert reason(log).endswith("apt install python3-venv")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a lock file, whose environment has a pip that is played by a script."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "requirements.lock").write_text(LOCK)
    pip = tmp_path / "env/bin/pip"
    pip.parent.mkdir(parents=True)
    monkeypatch.setattr(module.sys, "executable", "true")

    def play(script):
        pip.write_text(f"#!{sys.prefix}/bin/python\nimport sys\n{script}\n")
        pip.chmod(0o755)

    return play


def test_an_installation_is_one_line(place, tmp_path, capsys):
    place("print('Collecting', sys.argv[1:])")
    install(tmp_path / "env", tmp_path / "requirements.lock")
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("install packages: ")
    assert "--editable" in (tmp_path / "env/install.log").read_text()


@pytest.mark.parametrize("kept", [True, False])
def test_packages_are_compiled_at_once_only_where_imports_do_not_keep_bytecode(kept, place, tmp_path, monkeypatch):
    """Otherwise every process would compile all that it imports: torch and Snakemake take two seconds each."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "" if kept else "1")
    place("print(sys.argv)")
    install(tmp_path / "env", tmp_path / "requirements.lock")
    assert ("--no-compile" in (tmp_path / "env/install.log").read_text()) == kept


def test_a_failed_installation_is_one_sentence(place, capsys):
    place("sys.exit('ERROR: No matching distribution found for a==1')")
    with pytest.raises(SystemExit, match=r"^Installation failed: No matching distribution found for a==1 \(log: env/"):
        install_or_exit(["env"])
    assert capsys.readouterr().out.startswith("install packages: failed after ")


def test_the_installation_needs_python_alone(root):
    code = "import nmtcore.console.install, sys; assert not any('site-packages' in path for path in sys.path)"
    subprocess.run([sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(root / "src")}, check=True)
