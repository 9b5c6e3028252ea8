# What differs if another workflow has this one as a `module`. That workflow reads our files again for each of its lines
# `use rule ... from`, each time with another modifier, which knows the new names of our rules.
from nmtcore.errors import UserError
from nmtcore.job import end_planning

IS_MODULE = not workflow.modifier.is_main_snakefile()
NAME_OF_MODULE = workflow.modifier.namespace
CONFIG_NAME = f"config of module {NAME_OF_MODULE}" if IS_MODULE else "config.yaml"
USES = vars(workflow).setdefault("uses_of_nmtcore", {}).setdefault(NAME_OF_MODULE, [])
USES.append(workflow.modifier)
IS_FIRST_USE = len(USES) == 1
EARLIER_LOCAL_RULES = frozenset(workflow._localrules)


def is_ours(job):
    """Return whether the rule of a job is one of this workflow."""
    return any(job.rule in modifier.rules for modifier in USES)


def is_job_of(job, name):
    """Return whether a job is one of our rule with this name, which a module may have renamed."""
    return job.rule.name in {modifier.avail_rulename(name) for modifier in USES}


if workflow.modifier.modify_path("results/x") != "results/x":
    end_planning(
        UserError(
            f"module {NAME_OF_MODULE}: a prefix would miss paths that no rule declares; instead, name the "
            "folders in the module's config, for example paths: {results: nmt/results, downloads: nmt/downloads}."
        )
    )
