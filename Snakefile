# From parallel text to tables of results. `snakemake -n results/multi30k_cs2en/depparse_l1.bleu` lists the jobs for one
# result. config/config.yaml selects the inputs of the target rules below; README.md explains all other targets.
import os
import sys

from snakemake.utils import min_version

min_version("9.19")

# Planning and all jobs, in any environment and on any node, import the package from the folder of this file.
SOURCES = workflow.current_basedir.join("src").get_path_or_uri(secret_free=True)
if not os.path.isdir(SOURCES):
    sys.exit(
        f"Error: {SOURCES} is not a folder of this machine: name workflow/Snakefile, not Snakefile."
    )
sys.path.insert(0, SOURCES)
from nmtcore.job import check_working_folder, prepare_jobs, user_config_path
from nmtcore.planning.configured import (
    configured_annotation,
    configured_annotator_models,
    configured_models,
    configured_scores,
    configured_tokens,
)

prepare_jobs(SOURCES)
check_working_folder()


include: "workflow/rules/module.smk"


# As a module, this uses the module's `config`, not a file of the workflow that has the module.
configfile:
    not IS_MODULE
    and user_config_path(workflow.overwrite_configfiles)
    or workflow.source_path("config/config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/corpus.smk"
include: "workflow/rules/annotation.smk"
include: "workflow/rules/segmentation.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/reporting.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/targets.smk"


rule all:
    default_target: not IS_MODULE
    input:
        planned(configured_scores),


rule data:
    input:
        planned(configured_tokens),


rule annotate:
    input:
        planned(configured_annotation),


rule models:
    input:
        planned(configured_annotator_models),


rule train:
    input:
        planned(configured_models),


complete_rules()
if not IS_MODULE:
    check_targets()
