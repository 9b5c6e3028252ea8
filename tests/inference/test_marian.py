"""Published models of the Marian family: compared with `transformers` itself; refused ones; what is made of them."""

import shutil

import numpy as np
import pytest
import torch
from called import call_nmtcore
from conftest import skip_unless_ci
from factories import examples_of, run_settings, side
from publishing import publish_bundle
from safetensors.torch import load_file, save_file

from nmtcore.config.components import (
    DepParseSettings,
    DiagonalParseSettings,
    FactorsSettings,
    LabelHeadSettings,
    MultitaskSettings,
    PascalSettings,
    RelativePositionsSettings,
    SennrichHaddowSettings,
    SisaSettings,
    TagAttentionSettings,
    TreeDistanceSettings,
    TreeHeadSettings,
    TreeTraversalSettings,
)
from nmtcore.config.imported import published_settings
from nmtcore.config.training import DecodingSettings, TransformerSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD
from nmtcore.files import file_sha256, read_json, write_json
from nmtcore.inference.bundle import load_bundle, load_initial_weights
from nmtcore.inference.export import write_model
from nmtcore.inference.marian import converted_weights, entry_order, read_published_weights
from nmtcore.inference.search import translate_examples
from nmtcore.inference.text import read_text
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_model
from nmtcore.model.testing import RANDOM_LABELS, random_examples
from nmtcore.model.transformer import Transformer
from nmtcore.segmentation.vocabulary import BOS, ROOT_ID, Vocabulary
from nmtcore.training.checkpoints import named_weights, set_weights

ENTRIES = 40
PADDING = ENTRIES - 1
"""The id of padding, the last, as in the published models; that of `</s>` is 0, of `<unk>` 1."""
IDS = {"</s>": 0, "<unk>": 1, **{f"▁p{i}": i for i in range(2, PADDING)}, "<pad>": PADDING}
CONFIG = {
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 48),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("pad_token_id", "decoder_start_token_id"), PADDING),
    **dict.fromkeys(("eos_token_id", "forced_eos_token_id"), 0),
    **{"vocab_size": ENTRIES, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "max_position_embeddings": 64},
    **{"activation_function": "swish", "scale_embedding": True, "init_std": 0.2, "dropout": 0.0},
}


@pytest.fixture(scope="module")
def marian():
    try:
        from transformers.models import marian
    except ModuleNotFoundError:
        skip_unless_ci("transformers is not installed")
    return marian


def publish(marian, folder, *, updates=0, **changes):
    """Write a model with random weights as `transformers` does, trained briefly to copy; return it."""
    torch.manual_seed(3)
    model = marian.MarianMTModel(marian.MarianConfig(**{**CONFIG, **changes}))
    with torch.no_grad():
        for weight in [*(w for name, w in model.named_parameters() if name.endswith("bias")), model.final_logits_bias]:
            weight.normal_(std=0.2)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(updates):
        ids = torch.cat([torch.randint(2, PADDING, (32, int(torch.randint(1, 7, ())))), torch.zeros(32, 1).long()], 1)
        model(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    model.eval().save_pretrained(folder)
    write_json(folder / "vocab.json", IDS)
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(b"")
    return model


def converted(folder):
    """Return the transformer of a published model, and the published ids of its entries."""
    settings, order = TransformerSettings(**published_settings(folder)["model"]), entry_order(folder)
    model = Transformer(settings, source_size=len(order), target_size=len(order), joint=True).eval()
    weights = converted_weights(read_published_weights(folder), settings, order)
    assert weights.keys() == dict(named_weights(model)).keys()
    set_weights(model, weights)
    return model, order


def sentences(count, seed, *, longest):
    generator = np.random.default_rng(seed)
    return [generator.integers(1, PADDING, generator.integers(1, longest)).tolist() for _ in range(count)]


def padded(sentences, before=(), after=(0,)):
    rows = [[*before, *ids, *after] for ids in sentences]
    return torch.tensor([row + [PADDING] * (max(map(len, rows)) - len(row)) for row in rows])


def ours(sentences, order):
    """Return published ids as ids here."""
    return side([[order.index(i) for i in ids] for ids in sentences])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation_function": "gelu", "scale_embedding": False, "encoder_layers": 1},
        {"activation_function": "relu", "d_model": 48},
    ],
    ids=str,
)
def test_logits_are_those_of_transformers(marian, tmp_path, changes):
    theirs = publish(marian, tmp_path, **changes)
    model, order = converted(tmp_path)
    assert torch.equal(model.target_embedding.weight[BOS], theirs.model.shared.weight[PADDING])
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-10)):
        theirs, model = theirs.to(dtype), model.to(dtype)
        for count in (1, 2, 9):
            source, target = sentences(count, 1, longest=40), sentences(count, 2, longest=50)
            batch = make_batch(examples_of(ours(source, order), ours(target, order)), np.arange(count))
            ids, target_ids = padded(source), padded(target, before=[PADDING], after=())
            with torch.inference_mode():
                expected = theirs(input_ids=ids, attention_mask=ids != PADDING, decoder_input_ids=target_ids).logits
                context = model.encode(batch)
                logits = model.logits(model.decode(batch.target_input_BT, context), context)
            real = torch.tensor([[t <= len(row) for t in range(expected.size(1))] for row in target])
            columns = [order.index(i) for i in range(ENTRIES)]
            assert torch.allclose(logits[..., columns][real], expected[real], rtol=0, atol=tolerance)
            assert (logits[..., [BOS, ROOT_ID]] < -900).all()


def test_weights_are_read_from_a_pickle_without_code_in_it_and_half_precision(marian, tmp_path):
    publish(marian, tmp_path)
    weights = {name: weight.half() for name, weight in load_file(tmp_path / "model.safetensors").items()}
    (tmp_path / "model.safetensors").unlink()
    weights["model.encoder.embed_positions.weight"] = marian.MarianMTModel(
        marian.MarianConfig(**CONFIG)
    ).model.encoder.embed_positions.weight.half()
    torch.save(weights, tmp_path / "pytorch_model.bin")
    model, order = converted(tmp_path)
    assert torch.equal(model.target_embedding.weight, weights["model.shared.weight"].float()[order])
    torch.save({"code": print}, tmp_path / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"pytorch_model.bin holds no weights that can be read \(.*\): copy it again"):
        read_published_weights(tmp_path)


def test_searches_find_what_generate_finds(marian, tmp_path):
    """What differs ends at the limit, where `generate` counts no probability, or has a better score than there: a
    hypothesis that ends with a candidate below the best M counts here, there it does not."""
    theirs = publish(marian, tmp_path, updates=150).double()
    model, order = converted(tmp_path)
    source, same, limit = sentences(30, 5, longest=7), [], 20
    ids = padded(source)
    forbidden = {"bad_words_ids": [[PADDING]], "forced_eos_token_id": 0, "max_length": limit + 2, "do_sample": False}
    for beam, alpha in ((1, 1.0), (4, 1.0), (6, 0.6), (3, 0.0)):
        scored = {"return_dict_in_generate": True, "output_scores": True, "early_stopping": "never"} if beam > 1 else {}
        chosen = {**forbidden, **scored, "num_beams": beam, "length_penalty": alpha}
        generated = theirs.generate(input_ids=ids, attention_mask=(ids != PADDING).long(), **chosen)
        rows, scores = (generated, None) if beam == 1 else (generated.sequences, generated.sequences_scores)
        search = {"beam": beam, "alpha": alpha, "length_penalty": "fairseq", "min_length": 0}
        settings = DecodingSettings(**search, max_length=limit, max_length_ratio=None)
        translated = translate_examples(model.double(), examples_of(ours(source, order)), settings)
        for i, (row, (hypothesis, *_)) in enumerate(zip(rows[:, 1:].tolist(), translated, strict=True)):
            expected = row[: row.index(0)]
            same.append([order[token] for token in hypothesis.tokens] == expected)
            assert same[-1] or (beam > 1 and (len(expected) == limit or hypothesis.score >= scores[i]))
    assert np.mean(same) > 0.8


def test_ctranslate2_translates_as_the_imported_model(marian, tmp_path):
    ctranslate2 = pytest.importorskip("ctranslate2")
    publish(marian, tmp_path / "published", updates=60)
    model, order = converted(tmp_path / "published")
    entries = Vocabulary.of(sorted(IDS, key=IDS.get)).entries
    (tmp_path / "exported").mkdir()
    write_model(model, tmp_path / "exported", source_entries=entries, target_entries=entries, longest=64)
    source = ours(sentences(20, 6, longest=9), order)
    settings = DecodingSettings(beam=1, min_length=0, max_length=14, max_length_ratio=None)
    expected = [
        [entries[i] for i in best.tokens] for best, *_ in translate_examples(model, examples_of(source), settings)
    ]
    translator = ctranslate2.Translator(str(tmp_path / "exported"), intra_threads=1)
    pieces = [[entries[i] for i in source.ids[row]] for row in range(20)]
    results = translator.translate_batch(pieces, beam_size=1, max_decoding_length=14, min_decoding_length=0)
    assert [result.hypotheses[0] for result in results] == expected
    assert len(set(map(tuple, expected))) > 15


REFUSED = {
    "another family": ({"model_type": "t5"}, {}, r"config.json: this is a model of the family 't5', but only"),
    "NLLB": ({"model_type": "m2m_100"}, {}, "family 'm2m_100'"),
    "an unknown activation": ({"activation_function": "tanh"}, {}, "activation_function is tanh, but only models with"),
    "two vocabularies": ({"share_encoder_decoder_embeddings": False}, {}, "share_encoder_decoder_embeddings is False"),
    "norms before blocks": ({"normalize_before": True}, {}, "normalize_before is True"),
    "stacks that differ": ({"decoder_ffn_dim": 7}, {}, "encoder_ffn_dim and decoder_ffn_dim differ"),
    "another start": ({"decoder_start_token_id": 0}, {}, "pad_token_id and decoder_start_token_id differ"),
    "no width": ({"d_model": None}, {}, "config.json has no d_model: copy the model again"),
    "another vocabulary": ({}, {"more": ENTRIES}, "vocab.json has 41 entries, but vocab_size is 40, or"),
    "padding elsewhere": ({}, {"<pad>": 0, "</s>": PADDING}, "vocab.json: <pad> has the id 0, but pad_token_id is 39"),
    "a symbol of ours": ({}, {"<s>": 2, "▁p2": None}, "has the entry <s>, which is a symbol of its own here"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_another_model_is_refused_with_a_sentence(marian, tmp_path, case):
    config, entries, sentence = REFUSED[case]
    publish(marian, tmp_path)
    for name, changes in (("config.json", config), ("vocab.json", entries)):
        values = {**read_json(tmp_path / name), **changes}
        write_json(tmp_path / name, {key: value for key, value in values.items() if value is not None})
    with pytest.raises(UserError, match=sentence):
        converted(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "source.spm", "target.spm", "model.safetensors"])
def test_a_missing_file_is_named(marian, tmp_path, name):
    publish(marian, tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(UserError, match=f"{tmp_path} has (no|neither) {name}"):
        converted(tmp_path)
    (tmp_path / name).write_text("[]")
    if name.endswith("json"):
        with pytest.raises(UserError, match=f"{name} has no keys: copy the model again"):
            converted(tmp_path)
    with pytest.raises(UserError, match="nowhere: there is no such folder"):
        published_settings(tmp_path / "nowhere")


WEIGHTS = {
    "unknown": ({"model.encoder.layernorm.bias": torch.ones(1)}, "has the weight model.encoder.layernorm.bias, for wh"),
    "missing": (
        {"model.decoder.layers.1.fc1.bias": None},
        "model.decoder.layers.1.fc1.bias should have .* but there is no such weight",
    ),
    "of another shape": (
        {"model.encoder.layers.0.fc2.bias": torch.ones(9)},
        r"should have the shape \(32,\) by .* there is the shape \(9,\)",
    ),
    "not shared": ({"lm_head.weight": torch.ones(ENTRIES, 32)}, "lm_head.weight differs from model.shared.weight"),
    "learnt positions": ({"model.decoder.embed_positions.weight": torch.ones(64, 32)}, "is not Marian's table"),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_every_weight_is_used_or_named(marian, tmp_path, case):
    changes, sentence = WEIGHTS[case]
    publish(marian, tmp_path)
    weights = {**load_file(tmp_path / "model.safetensors"), **changes}
    save_file({name: weight for name, weight in weights.items() if weight is not None}, tmp_path / "model.safetensors")
    with pytest.raises(UserError, match=sentence):
        converted(tmp_path)


def imported_run(folder, *components, **values):
    published = published_settings(folder)
    return run_settings(*components, **{**published, "model": TransformerSettings(**published["model"]), **values})


TEXTS = [
    f"{article} {noun} {verb} {noun}s" for article in ("a", "the") for noun in ("cat", "dog") for verb in ("is", "has")
]


CODES = [">>deu<<", ">>fra<<", ">>ron<<"]


@pytest.fixture(scope="module")
def typed(marian, tmp_path_factory):
    """A published model with pieces of its own, and the folder that `nmtcore import` makes of it."""
    try:
        import sentencepiece
    except ModuleNotFoundError:
        skip_unless_ci("sentencepiece is not installed")
    folder = tmp_path_factory.mktemp("typed")
    published = folder / "opus-mt-en-de"
    theirs = publish(marian, published, updates=60)
    for name in ("source", "target"):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXTS),
            model_prefix=str(published / name),
            vocab_size=ENTRIES,
            hard_vocab_limit=False,
        )
        (published / f"{name}.model").rename(published / f"{name}.spm")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(published / "source.spm"))
    pieces = [processor.id_to_piece(i) for i in range(3, len(processor))]
    names = [*pieces, *(f"▁p{i}" for i in range(ENTRIES))][: PADDING - 2]
    shutil.copytree(published, folder / "opus-mt-en-mul")
    for name, entries in (("opus-mt-en-de", names), ("opus-mt-en-mul", names[: -len(CODES)] + CODES)):
        ids = {"</s>": 0, "<unk>": 1, **{entry: i for i, entry in enumerate(entries, 2)}, "<pad>": PADDING}
        write_json(folder / name / "vocab.json", ids)
    languages = ("--source", "en", "--target", "de", "--licence", "CC-BY-4.0", "--origin", "made here")
    called = call_nmtcore("import", str(published), str(folder / "run"), *languages)
    assert (called.code, called.output) == (0, "")
    called = call_nmtcore("import", str(published), str(folder / "none"), *languages, "--code", CODES[1])
    assert "vocab.json has no language codes: leave out >>fra<<." in called.errors
    multilingual = str(folder / "opus-mt-en-mul")
    called = call_nmtcore("import", multilingual, str(folder / "none"), *languages)
    assert f"or `code` in `imported`). Valid are: {', '.join(CODES)}.\n" in called.errors
    called = call_nmtcore("import", multilingual, str(folder / "none"), *languages, "--code", ">>fr<<")
    assert "vocab.json: unknown language code '>>fr<<'. Did you mean >>fra<<, >>ron<<" in called.errors
    called = call_nmtcore("import", multilingual, str(folder / "coded"), *languages, "--code", CODES[1])
    assert (called.code, called.output, called.errors.count("\n")) == (0, "", 1)
    return theirs, published, folder / "run"


@pytest.mark.parametrize("code", ["", CODES[1]])
def test_a_typed_import_translates_like_transformers(typed, marian, code):
    theirs, published, run = typed
    run, model = (run.parent / "coded", run.parent / "opus-mt-en-mul") if code else (run, published)
    tokenizer = marian.MarianTokenizer.from_pretrained(model)
    batch = tokenizer([f"{code} {text}".strip() for text in TEXTS], return_tensors="pt", padding=True)
    generated = theirs.generate(**batch, num_beams=1, max_length=20, bad_words_ids=[[PADDING]], do_sample=False)
    expected = [" ".join(text.split()) for text in tokenizer.batch_decode(generated, skip_special_tokens=True)]
    plain, called = (
        call_nmtcore("translate", str(path / "model"), "--beam", "1", "--max-length", "18", text="\n".join(TEXTS))
        for path in (run.parent / "run", run)
    )
    assert called.output.splitlines() == expected
    assert (plain.output == called.output) == (not code)
    (first, *_), bundle = batch["input_ids"].tolist(), load_bundle(run / "model")
    (example,) = bundle.reader.chunks(read_text([TEXTS[0]], where="here"), 1)
    made = make_batch(example.examples, np.arange(1), bundle.model.components)
    entries = {i: entry for entry, i in read_json(model / "vocab.json").items()}
    expected = [entries[i] for i in first if i != PADDING]
    assert bundle.vocabularies["source"].tokens(made.source_BS[0].tolist()) == expected
    assert made.source_words_BS[0].tolist().count(NO_WORD) == 1 + bool(code)
    manifest = read_json(run / "manifest.json")
    assert manifest["data"]["files"][-1] == {
        **{"kind": "model", "name": model.name, "licence": "CC-BY-4.0", "citation": "made here", "url": None},
        **{"file": "model.safetensors", "sha256": file_sha256(model / "model.safetensors")},
    }
    again = call_nmtcore("import", str(published), str(run), "--source", "en", "--target", "de")
    assert again.code == 2
    assert "exists: name a new folder" in again.errors


def tuned(typed, *components):
    """Return the model of a system that starts from the imported one, and what it drew for its components."""
    _, published, run = typed
    new, size = imported_run(published, *components), len(Vocabulary.load(run / "model/source.vocab"))
    torch.manual_seed(5)
    model = build_model(new, source_size=size, target_size=size, labels=RANDOM_LABELS)
    drawn = {name: weight.clone() for name, weight in named_weights(model) if name.startswith("components.")}
    load_initial_weights(model, run / "model", run=new, segmentation=run / "model", labels=RANDOM_LABELS)
    return model, drawn


def test_an_imported_model_gives_the_base_of_a_system_with_components(typed):
    """Weights of the base are those of the published model, those of components stay as they were drawn."""
    model, drawn = tuned(typed, RelativePositionsSettings(maximum=3))
    expected = dict(named_weights(load_bundle(typed[2] / "model").model)) | drawn
    assert drawn
    assert expected.keys() == dict(named_weights(model)).keys()
    assert all(torch.equal(weight, expected[name]) for name, weight in named_weights(model))


ADDED = {
    "nothing": (),
    "depparse, root: itself": (DepParseSettings(layer=0, root="itself"),),
    "diagonalparse": (DiagonalParseSettings(layer=0),),
    "tree_traversal beside positions": (TreeTraversalSettings(replaces_positions=False),),
    "tree_distance beside positions": (TreeDistanceSettings(maximum=5, replaces_positions=False),),
    "factors, combine: add": (FactorsSettings(columns={"upos": 3, "deprel": 5}, combine="add"),),
    "multitask": (MultitaskSettings(),),
    "tag_attention": (TagAttentionSettings(),),
    "a parser on traversals and factors": (
        DepParseSettings(layer=1, root="itself"),
        TreeTraversalSettings(replaces_positions=False),
        FactorsSettings(columns={"upos": 3}, combine="add"),
    ),
    "depparse, root: symbol": (DepParseSettings(layer=0),),
    "pascal": (PascalSettings(heads=1),),
    "sennrich_haddow": (SennrichHaddowSettings(),),
    "factors, combine: concatenate": (FactorsSettings(columns={"upos": 3}),),
    "sisa": (SisaSettings(),),
    "label_head": (LabelHeadSettings(),),
    "relative_positions": (RelativePositionsSettings(),),
    "tree_head": (TreeHeadSettings(),),
    "tree_traversal in place of positions": (TreeTraversalSettings(),),
}
OTHER_SUMS = ("parse", "tree_")
"""What reads or adds to scores of attention: the fused kernel adds the same in another order."""


@pytest.mark.parametrize("name", ADDED)
def test_what_is_added_changes_the_first_loss_of_translation_only_if_its_settings_say_so(typed, name):
    """Whether the loss is that of the base, which an update then changes otherwise than the base's own (in float64)."""
    examples, losses = random_examples(24, seed=1, longest=9), {}
    for label, components in (("base", ()), (name, ADDED[name])):
        model, _ = tuned(typed, *components)
        batch = make_batch(examples, np.arange(24), model.components)
        optimiser, losses[label] = torch.optim.SGD(model.double().train().parameters(), lr=0.05), []
        for _ in range(2):
            computed = model.loss(batch, label_smoothing=0.1)
            losses[label].append(computed.parts[0].sum.item() / computed.parts[0].count)
            optimiser.zero_grad()
            computed.objective().backward()
            optimiser.step()
        new = {n: weight.grad for n, weight in model.named_parameters() if n.startswith("components.")}
    first, second = (abs(one - base) for one, base in zip(losses[name], losses["base"], strict=True))
    print(f"{name:40} {losses[name][0]:.6f} {losses[name][0] - losses['base'][0]:+.1e} {losses[name][1]:.6f}")
    if neutral := all(settings.neutral_at_first for settings in ADDED[name]):
        assert first <= (1e-12 if any(part in name for part in OTHER_SUMS) else 0)
    assert neutral == (first < 1e-4)
    assert (second > 1e-6) == bool(ADDED[name])
    assert not new or any(gradient is not None and gradient.any() for gradient in new.values())


def test_a_bundle_that_is_published_and_imported_again_translates_the_same(typed, tmp_path):
    """What the trial of docs/how-to/strong-base.md does with a model that was trained here."""
    _, published, run = typed
    publish_bundle(run / "model", tmp_path / "again")
    assert read_json(tmp_path / "again/vocab.json") == read_json(published / "vocab.json")
    weights = load_file(tmp_path / "again/model.safetensors")
    for name, weight in load_file(published / "model.safetensors").items():
        real = slice(PADDING if name == "final_logits_bias" else None)  # padding is never generated
        assert torch.equal(weights[name][..., real], weight[..., real])
    assert call_nmtcore("import", f"{tmp_path}/again", f"{tmp_path}/run", "--source", "en", "--target", "de").code == 0
    options = ("--beam", "1", "--max-length", "18")
    first, again = (
        call_nmtcore("translate", f"{folder}/model", *options, text="\n".join(TEXTS)).output
        for folder in (run, tmp_path / "run")
    )
    assert first == again
    assert len(set(first.split("\n"))) > 2
