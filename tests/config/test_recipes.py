"""Recipes agree with the papers and the toolkits that they used."""

from dataclasses import replace

import pytest

from nmtcore.config.project import Project
from nmtcore.config.runs import run_from_json, run_to_json, training_settings


def datasets_of(project: Project, recipe: str) -> list[str]:
    names = [name for name in project.dataset_files if project.first_recipe(name) == recipe]
    assert names
    return names


def test_pham2018_has_the_learning_rate_of_tensor2tensor(project: Project):
    """0.2, times 5000 and (for Adam) 0.002, divided by the square roots of the width and of the warm-up."""
    for name in datasets_of(project, "pham2018"):
        schedule = project.run(name, "transformer_base", "paper", 1).training.schedule
        assert (schedule.kind, schedule.warmup) == ("inverse_sqrt", 8000)
        assert schedule.peak == pytest.approx(0.2 * 5000 * 0.002 * 512**-0.5 * schedule.warmup**-0.5, rel=1e-5)


def test_aycock2021_has_the_dropout_and_floor_of_joeynmt_and_a_maximum_length_of_70(project: Project):
    for name in datasets_of(project, "aycock2021"):
        run = project.run(name, "transformer_base", "paper", 1)
        model, schedule = run.model, run.training.schedule
        assert (model.dropout, model.attention_dropout, model.activation_dropout) == (0.1, 0.1, 0.1)
        assert model.embedding_dropout == 0.0
        assert (schedule.kind, schedule.floor, schedule.stop_at_floor) == ("plateau", 1e-8, True)
        assert run.training.batch.max_length == 70
        assert (run.decoding.max_length, run.decoding.max_length_ratio) == (70, None)
        (cut,) = project.dataset(name).filters
        assert (cut.least, cut.most) == (1, 70)


def test_aycock2021_is_pre_norm_like_its_code_and_post_norm_like_its_equations_in_a_system_of_its_own(project: Project):
    for name in datasets_of(project, "aycock2021"):
        base, post = (project.run(name, system, "paper", 1) for system in ("transformer_base", "transformer_base_post"))
        assert (base.model.norm, post.model.norm) == ("pre", "post")
        assert replace(post, system=base.system, model=replace(post.model, norm="pre")) == base
        assert project.run(name, "tag_attention", "paper", 1).model == base.model


@pytest.mark.parametrize("recipe", ["pham2018", "bugliarello2020", "aycock2021", "tran2018", "small"])
def test_transformers_train_in_bf16_by_the_recipes_of_papers_that_have_only_transformers(project: Project, recipe: str):
    bf16 = recipe not in ("tran2018", "small")
    for name in datasets_of(project, recipe):
        systems = {"transformer_base": "bf16" if bf16 else "fp32", "nmt": "fp32"}
        precisions = {system: project.run(name, system, "paper", 1).training.precision for system in systems}
        assert precisions == systems


@pytest.mark.parametrize(
    ("recipe", "least"), [("pham2018", 0), ("bugliarello2020", 1), ("aycock2021", 0), ("tran2018", 0), ("small", 1)]
)
def test_translations_may_be_empty_where_the_toolkit_allows_it(project: Project, recipe: str, least: int):
    for name in datasets_of(project, recipe):
        for system in ("transformer_base", "nmt"):
            for scale in ("smoke", "paper"):
                assert project.run(name, system, scale, 1).decoding.min_length == least


def test_tran2018_has_no_maximum_length(project: Project):
    """Neither for training pairs, nor relative to the source for translations."""
    for name in datasets_of(project, "tran2018"):
        run = project.run(name, "transformer_base", "paper", 1)
        assert run.training.batch.max_length is None
        assert run.decoding.max_length_ratio is None
        assert run.decoding.max_length == 1000
        assert [type(settings).__name__ for settings in project.dataset(name).filters] == ["EmptySettings"]
        assert run_from_json(run_to_json(run), where="test") == run


def test_tran2018_has_the_hyperparameters_of_section_4_3(project: Project):
    """Words of 1,024 dimensions, two layers, halving after perplexity rose, five times; the rest is assumed."""
    systems = [name for name, (path, _) in project.system_entries.items() if path.stem == "tran2018"]
    assert len(systems) == 7
    for name in datasets_of(project, "tran2018"):
        updates = 5000 if "ru" in (project.dataset(name).source, project.dataset(name).target) else 10_000
        segmentation = project.dataset(name).segmentation
        assert (segmentation.kind, segmentation.size, segmentation.joint) == ("bpe", 32_000, False)
        for system in systems:
            run = project.run(name, system, "paper", 1)
            assert (run.model.width, run.model.layers, run.model.dropout) == (1024, 2, 0.3)
            training, schedule = run.training, run.training.schedule
            assert (training.initialisation, training.uniform_range) == ("uniform", 0.04)
            assert (training.betas, training.epsilon, training.weight_decay) == ((0.9, 0.999), 1e-8, 0.0)  # torch's
            assert (schedule.kind, schedule.peak, schedule.warmup) == ("halving", 1e-3, 0)
            assert (schedule.factor, schedule.stop_after) == (0.5, 5)
            assert (training.batch.unit, training.batch.size) == ("sentences", 32)
            assert (training.validation.every, training.validation.metric) == (updates, "perplexity")
            assert (training.validation.stop_after, training.max_epochs) == (None, None)
            assert training.checkpoint_every == updates
            assert (training.label_smoothing, training.clip_norm, training.keep) == (0.0, 5.0, "best")
            assert (run.decoding.beam, run.decoding.length_penalty) == (5, "none")


def test_small_recurrent_models_have_weights_and_rates_of_their_own(project: Project):
    """U(-0.04, 0.04) is for a width of 1,024; with it, or with the rate of transformers, they hardly learn."""
    for scale in sorted(set(project.scale_names) - {"paper"}):
        for name in ("demo_en2de", "wmt17_en2ru"):
            nmt, transformer = (project.run(name, system, scale, 1) for system in ("nmt", "transformer_base"))
            assert nmt.training.initialisation == "xavier"
            assert nmt.training.clip_norm == 5.0
            assert nmt.training.schedule.peak > transformer.training.schedule.peak
            assert nmt.training.max_updates == transformer.training.max_updates
            assert nmt.model.width == transformer.model.width
            assert nmt.training.schedule.kind != "halving"


def test_new_keys_are_not_recorded_unless_set(project: Project):
    """Otherwise every run would be trained again for each new key."""
    values = training_settings(project.run("multi30k_cs2en", "transformer_base", "small", 1))
    assert "embedding_dropout" not in values["model"]
    assert "stop_at_floor" not in values["training"]["schedule"]
    values = training_settings(project.run("wmt17_tr2en", "transformer_base", "paper", 1))
    assert values["model"]["embedding_dropout"] == 0.0
    assert values["training"]["schedule"]["stop_at_floor"] is True
