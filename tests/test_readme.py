"""README.md and the pages that it links to agree with the configuration and with the code."""

import re
import subprocess
from pathlib import Path

from sacrebleu.metrics import BLEU

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.files import read_lines
from nmtcore.planning.evaluation import seed_scores

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), ROOT / "config/README.md", *ROOT.glob("docs/**/*.md")]
)
WITH_TARGETS = (
    *("README.md", "CONTRIBUTING.md"),
    *(f"docs/{name}.md" for name in ("analysis", "data", "running", "scores", "tables")),
)


def read(root, page):
    return (root / page).read_text(encoding="utf-8")


def commands(text):
    return "\n".join(re.findall(r"^```bash\n(.*?)^```", text, re.M | re.DOTALL))


def expanded(pattern):
    """Expand braces as the shell does: {,a_}b{1..3}."""
    echoed = subprocess.run(["bash", "-c", f"echo {pattern}"], capture_output=True, text=True, check=True)
    return set(echoed.stdout.split())


def link_faults(root, page):
    """Yield the links of a page whose file or heading does not exist."""
    text = re.sub(r"^```.*?^```|`[^`]*`", "", read(root, page), flags=re.M | re.DOTALL)
    for file, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        linked = (root / page).parent / file if file else root / page
        if not linked.exists():
            yield f"{page}: {file}"
        elif anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.M)
            if anchor not in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]:
                yield f"{page}: {file}#{anchor}"


def test_links_have_their_targets(root):
    faults = [fault for page in PAGES for fault in link_faults(root, page)]
    assert not faults, "\n".join(faults)


def test_results_in_commands_can_be_planned(root, tmp_path):
    external_system(root, own_system(root, tmp_path))
    own = Project([tmp_path / "config", root / "config"], {})
    faults = []
    for page in WITH_TARGETS:
        targets = re.findall(r"(?<=[ ])results/[\w/.{},]+\.\w+\b", commands(read(root, page)))
        assert targets, page
        for target in {path for pattern in targets for path in expanded(pattern)}:
            if "/mine/" not in target and "root_vector" not in target:  # configured by other examples
                try:
                    check(own, target)
                except UserError as error:
                    faults.append(f"{page}: {target}: {error}")
    assert not faults, "\n".join(faults)


def check(project, target):
    """Raise `UserError` if a path has no names that fit together."""
    path = project.layout.parse(target)
    if path is None:
        raise UserError("no file of the workflow")
    if path.file_type == "summary":
        names = {key: path[key] for key in ("dataset", "system", "score")}
        seed_scores(project, root=project.layout.root(path["scale"]), **names)
    elif "system" in path.names:
        project.run(path["dataset"], path["system"], path["scale"], 1)
    elif "dataset" in path.names:
        project.dataset(path["dataset"])


def own_system(root, folder):
    """Write the configuration of the section on a system of one's own, as its command does."""
    ((path, text),) = re.findall(r"^cat > mine/(\S+) <<'END'\n(.*?)^END", read(root, "README.md"), re.M | re.DOTALL)
    (folder / path).parent.mkdir(parents=True)
    (folder / path).write_text(text, encoding="utf-8")
    return folder / "config"


def external_system(root, config):
    """Write the example of translations made elsewhere, and files as it names them."""
    (text,) = re.findall(r"^```yaml\nmy_llm:\n(.*?)^```", read(root, "docs/scores.md"), re.M | re.DOTALL)
    (config / "systems/external.yaml").write_text(f"my_llm:\n{text}", encoding="utf-8")
    (config.parent / "text").mkdir()
    files = re.findall(r"\.\./(text/[\w.]+)", text)
    for name in files:
        (config.parent / name).write_text("a line\n", encoding="utf-8")
    return files


def test_the_systems_of_the_examples_can_be_planned(root, tmp_path):
    config = own_system(root, tmp_path)
    files = external_system(root, config)
    own = Project([config, root / "config"], {})
    assert list(own.run("demo_en2de", "parser_and_pascal", "smoke", 1).components) == ["depparse", "pascal"]
    assert len(files) == 4
    for seed in (1, 2):
        run = own.run("multi30k_cs2en", "my_llm", "paper", seed)
        assert list(run.external.values()) == [str(tmp_path / name) for name in files if f"seed{seed}" in name]


def test_readme_makefile_and_ci_name_the_same_commands(root):
    """The first section has those that set up a fresh machine; CI runs tests that need more, `make test` does not."""
    readme, makefile = read(root, "README.md"), read(root, "Makefile")
    first = readme.partition("\n## ")[2].partition("\n## ")[0]
    assert re.findall(r"^make ([\w-]+)", commands(first), re.M) == ["demo", "test"]
    (of_ci,) = re.findall(r"^make (.*)$", read(root, ".ci/run"), re.M)
    assert re.search(rf"`make {of_ci}` [^.]*; CI \(`\.ci/run`\)", first)
    bounds = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', read(root, "pyproject.toml")).groups()
    assert "(3, {}) <= sys.version_info < (3, {})".format(*bounds) in makefile
    for target, needs_more in (("test", False), (of_ci, True)):
        made = subprocess.run(["make", "-n", "-C", root, target], capture_output=True, text=True, check=True).stdout
        assert ('-m "not needs"' not in made) == needs_more


def test_the_example_of_counts_gives_the_score_of_those_sentences(root, monkeypatch, capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", read(root, "docs/scores.md"), re.M | re.DOTALL)
    monkeypatch.chdir(root)
    names = {}
    exec(code, names)
    test = names["run"] / "hypotheses/test"
    translations, references = (read_lines(test / f"{name}.txt")[:100] for name in ("translations", "references"))
    score = BLEU().corpus_score(translations, [references]).score
    assert capsys.readouterr().out == f"{score} {names['bleu'].signature}\n"
