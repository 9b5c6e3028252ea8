# Learn how words are split into subwords.
from nmtcore.planning.training import model_of_pieces, training_linearised_parses


rule learn_segmentation:
    input:
        corpus=LAYOUT.pattern("pairs", split="train"),
        selection=planned(selection_file),
        linearised_parses=planned(training_linearised_parses),
        given=planned(model_of_pieces),
    output:
        folder=directory(LAYOUT.pattern("segmentation")),
    resources:
        mem_mb=8000,
        runtime=480,
    script:
        "../scripts/learn_segmentation.py"
