"""Errors about the trees of a batch, in sentences that name the source sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from nmtcore.errors import UserError
from nmtcore.model.device import is_out_of_memory
from nmtcore.model.matrix_tree import ScoresNotFinite


class DivergedTrees(UserError):
    """Scores of trees that are infinite or not numbers, which only a model without finite parameters computes."""

    def __init__(self, sentence: str) -> None:
        self.problem = f"the scores of the trees of {sentence} are not finite"
        super().__init__(f"The model cannot be used, since {self.problem}: train it again.")


@contextmanager
def explain_tree_errors(nodes_BS: Tensor, ids_B: Tensor | None) -> Iterator[None]:
    """Explain what `tree_marginals` raises: scores that are not finite (`DivergedTrees`), and a lack of memory.

    `nodes_BS` is True at the nodes of trees, and `ids_B` has the ids of the sentences in their split, if known.
    """
    try:
        yield
    except ScoresNotFinite as error:
        raise DivergedTrees(_sentence(ids_B, error.row)) from error
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        subwords_B = nodes_BS.sum(dim=1)
        longest = int(subwords_B.argmax())
        batch = f" and is in a batch of {len(nodes_BS)}" if len(nodes_BS) > 1 else ""
        raise UserError(
            f"The memory is too small for the trees of {_sentence(ids_B, longest)}, which has {subwords_B[longest]} "
            f"subwords{batch}. Leave it out (training.batch.max_length), cut it into parts, or make batches smaller "
            "(training.batch.device_size, decoding.batch_sentences)."
        ) from error


def _sentence(ids_B: Tensor | None, row: int) -> str:
    return f"sentence {row} of a batch" if ids_B is None else f"the source sentence with the id {ids_B[row]}"
