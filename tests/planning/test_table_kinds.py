"""The files that tables and figures of the papers are made from."""

from nmtcore.planning.paper_tables import paper_table_inputs, paper_table_plan


def test_curves_are_drawn_from_training_logs(make_project):
    project = make_project()
    systems = ("transformer_base", "tag_attention_no_decay", "tag_attention")
    logs = {
        f"demo_de2en/{system}": {
            str(seed): f"results/smoke/demo_de2en/{system}/seed{seed}/training.jsonl" for seed in (1, 2)
        }
        for system in systems
    }
    assert paper_table_plan(project, paper_table="aycock2021_figure_5_1")["more"] == {
        "logs": logs,
        "beams": {"demo_de2en": [1]},
    }
    files = [path for by_seed in logs.values() for path in by_seed.values()]
    assert paper_table_inputs(project, paper_table="aycock2021_figure_5_1") == files
