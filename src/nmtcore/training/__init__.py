"""The training stage: batches, the gradient, the loop, validation, checkpoints and the log."""
