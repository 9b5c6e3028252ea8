"""Matrix products in 8 bits against rounding and adding entry by entry."""

import pytest
import torch
from inference.test_cli import nmtcore
from inference.tiny import random_examples, random_model, write_bundle

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference import int8
from nmtcore.inference.int8 import EXACT, LARGEST, Int8Linear, exact_product, use_int8
from nmtcore.inference.translate import translate_examples


def rounded(row: list[float]) -> tuple[list[int], float]:
    scale = max(map(abs, row)) / LARGEST or 1.0
    return [round(value / scale) for value in row], scale


IN_8_BITS = {"fp32": False} | ({"8 bits": True} if int8.has_vnni() else {})
"""The ways to compute on this processor: without VNNI, PyTorch's product in 8 bits is not exact."""


@pytest.fixture(params=IN_8_BITS, autouse=True)
def processor(request, monkeypatch):
    """Let each test compute in both ways."""
    monkeypatch.setattr(int8, "has_vnni", lambda: IN_8_BITS[request.param])


@pytest.mark.parametrize("bias", [None, torch.randn(7, dtype=torch.float64)])
def test_products_equal_sums_of_rounded_numbers(bias):
    weight, inputs = torch.randn(7, 5, dtype=torch.float64), torch.randn(2, 3, 5, dtype=torch.float64)
    weight[2], inputs[1, 1] = 0.0, 0.0
    outputs = Int8Linear(weight, bias)(inputs)
    assert outputs.shape == (2, 3, 7)
    for index in ((0, 0), (0, 2), (1, 1), (1, 2)):
        numbers, scale = rounded(inputs[index].tolist())
        for n in range(7):
            row, row_scale = rounded(weight[n].tolist())
            expected = sum(a * b for a, b in zip(numbers, row, strict=True)) * scale * row_scale
            expected += 0.0 if bias is None else float(bias[n])
            assert float(outputs[(*index, n)]) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_numbers_of_8_bits_stay_as_they_are():
    weight = torch.randint(-LARGEST, LARGEST + 1, (9, 16)).double()
    inputs = torch.randint(-LARGEST, LARGEST + 1, (4, 16)).double()
    weight[:, 0], inputs[:, 1] = LARGEST, -LARGEST
    assert torch.equal(Int8Linear(weight, None)(inputs), inputs @ weight.T)


@pytest.mark.parametrize("length", [1, EXACT, EXACT + 1, 3 * EXACT])
def test_products_in_fp32_are_those_of_whole_numbers(length):
    """The largest numbers, which no order of addition may round, and random ones."""
    rows = torch.randint(-LARGEST, LARGEST + 1, (6, length), dtype=torch.int8)
    weight = torch.randint(-LARGEST, LARGEST + 1, (length, 40), dtype=torch.int8)
    rows[0], weight[:, 0], weight[:, 1] = LARGEST, LARGEST, -LARGEST
    expected = rows.long() @ weight.long()
    product = exact_product(rows, weight.float())
    assert product.dtype == torch.float32
    assert (product.double() - expected).abs().max() <= (0 if length <= EXACT else 2**-23 * expected.abs().max())


def test_all_layers_of_a_model_are_rounded_and_translations_hardly_change():
    model, examples, settings = random_model(seed=3).float(), random_examples(8, seed=2), DecodingSettings(beam=3)
    before = translate_examples(model, examples, settings)
    use_int8(model)
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    assert all(isinstance(layer.forward, Int8Linear) for layer in layers)
    assert isinstance(model.output_layer, Int8Linear)
    after = translate_examples(model, examples, settings)
    scores = [[h[0].log_probability for h in hypotheses] for hypotheses in (before, after)]
    assert scores[0] != scores[1]
    assert scores[1] == pytest.approx(scores[0], rel=0.1)


def test_the_command_line_translates_in_8_bits_on_request(tmp_path):
    bundle, text = write_bundle(tmp_path / "model"), b"the cat\n\ndog\n"
    fp32, in_8_bits = (
        nmtcore("translate", bundle, "--n-best", 1, "--precision", p, text=text)[0] for p in ("fp32", "int8")
    )
    assert fp32 == nmtcore("translate", bundle, "--n-best", 1, text=text)[0]
    assert in_8_bits.count("\n") == fp32.count("\n")
    assert in_8_bits != fp32


def test_a_gpu_is_refused():
    model = random_model().to("meta")
    with pytest.raises(UserError, match="int8 is for CPUs: add --device cpu"):
        use_int8(model)
