"""Trained models for serving elsewhere: a bundle as a folder that CTranslate2 reads, and how to segment text.

model.bin, config.json, {shared,source,target}_vocabulary.json   the model, as CTranslate2 reads it
codes, {side}.codes, .spm   the files of the segmentation (subword-nmt's codes, or models of SentencePiece)
nmtcore.json               how to make the model's input from text, how to search, and text from its output
README.md                  how to use it without nmtcore, in prose and as code that runs

CTranslate2 (https://opennmt.net/CTranslate2) packs the matrices of transformers as we do: queries, keys, values; it
scales embeddings by the root of the width, too.

Shapes: D width, E head width, L labels, S source.
"""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from torch import Tensor, nn

import nmtcore
from nmtcore.config.corpora import SIDES
from nmtcore.corpus.tokenisation import word_rules
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.features.sources import MAX_SUBWORDS
from nmtcore.files import atomic_folder, write_json, write_text
from nmtcore.inference.bundle import Bundle, load_bundle, segmentation_files
from nmtcore.inference.search import NEVER_GENERATED, length_limits
from nmtcore.model.base import TranslationModel
from nmtcore.model.components.base import LanguageCode
from nmtcore.model.components.pair_labels import RelativePositions
from nmtcore.model.components.parser_heads import DepParse, DiagonalParse
from nmtcore.model.components.target_tags import Multitask
from nmtcore.model.transformer import Transformer, sinusoids
from nmtcore.segmentation.segmenter import SEPARATOR, codes_name
from nmtcore.segmentation.vocabulary import BOS, EOS, SPECIALS, UNK

EXPORT_FORMAT = 1
"""The version of nmtcore.json."""

FORBIDDEN = -1e9
"""The output bias of entries that are never generated. It is finite, so that no product or difference is NaN."""

EXPORTABLE = (DepParse, DiagonalParse, LanguageCode, Multitask, RelativePositions)
"""Components that change nothing of a translation's computation but a prefix of the source or the positions."""

README = """# $source to $target: $system

A translation model trained by nmtcore $nmtcore on the data set $dataset, exported for $library. `nmtcore.json` has what
is particular to it.

## From text to text

1. Make words of the source as `words.source` says: `moses` is Moses' `tokenizer.perl -no-escape -l LANGUAGE`, after its
   punctuation normalisation if `normalise` is true; `spaces` splits at white space; `mecab` is MeCab with the IPA
   dictionary; `spacy` is `spacy.blank(LANGUAGE).make_doc(text)`; `characters` are the matches of `characters`, as all
   regular expressions here one for the Python package regex. If `normalise` is `nfc`, compose the text in Unicode's NFC
   first. What `within` matches, if it is there, is a part of words: Moses' tokeniser gets `within_mark` in its place.
2. If `segmentation.kind` is `bpe`, cut the words with `subword-nmt apply-bpe --codes FILE`: pieces within a word end in
   `@@`. If it is `sentencepiece`, cut the text itself, not words, by the model. Otherwise words stay whole; those that
   are not in the vocabulary are `<unk>`.
3. Replace text that is one of `reserved` by `<unk>`, and put `source_prefix` before the pieces, `source_suffix` after
   them. The model adds `</s>` to the source by itself.
4. Translate, drop the entries of `output_tags`, and join pieces that end in `@@` with those after them; pieces of
   SentencePiece, with `▁` for spaces, are already text.
5. Join the words as `words.target` says: with Moses' detokeniser (also spaCy's words), with spaces, or, if MeCab's,
   without spaces. Then leave out what `closing` matches, replace matches of `quoted` by their three groups, or, if
   `space` is there, join without spaces and write one for each `space`.

In Python, from lists of words (texts, for SentencePiece) to lists of words, started in this folder:

```python
import json

import ctranslate2

about = json.load(open("nmtcore.json", encoding="utf-8"))
search, translator = about["search"], ctranslate2.Translator(".", intra_threads=1)
cut = join = list
if about["segmentation"]["kind"] == "bpe":
    from subword_nmt.apply_bpe import BPE

    cut = BPE(open(about["segmentation"]["codes"]["source"], encoding="utf-8")).segment_tokens

    def join(pieces):
        return (" ".join(pieces) + " ").replace("@@ ", "").split()
elif about["segmentation"]["kind"] == "sentencepiece":
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=about["segmentation"]["codes"]["source"])

    def cut(text):
        return model.encode(text, out_type=str)

    def join(pieces):
        return "".join(pieces).replace("▁", " ").split()


def translate(sentences):
    sources = [["<unk>" if piece in about["reserved"] else piece for piece in cut(words)] for words in sentences]
    limits = [] if search["max_length"] is None else [search["max_length"]]
    if search["max_length_ratio"] is not None:
        longest = max(map(len, sources))
        limits.append(int(search["max_length_ratio"] * longest) + search["max_length_extra"])
    framed = [about["source_prefix"] + source + about["source_suffix"] for source in sources]
    limit = max(min(limits), search["min_length"])
    results = translator.translate_batch(framed, max_decoding_length=limit, **about["options"])
    outputs = [[piece for piece in result.hypotheses[0] if piece not in about["output_tags"]] for result in results]
    return [join(pieces) for pieces in outputs]
```

## The search

`options` has the model's beam (1 is greedy search, whose output is that of nmtcore) and the fewest pieces of a
translation (0 allows empty ones), and cuts no source. Until a translation has them, CTranslate2 gives the probability
of `</s>` to the other pieces, nmtcore to none. If `search.length_penalty` is `gnmt`, nmtcore divides the
log-probability of a translation of n pieces, `</s>` included, by ((5 + n) / 6)^alpha, CTranslate2 by n^alpha: with a
beam, some translations differ. The model reads and writes at most `longest` pieces unless it has relative positions.

## Licences

`licences` lists the data, and the models of parsers, that the model was trained with, their licences, and what to cite.
If it is null they are unknown: the manifest of the model's run was not there.
"""


def export_bundle(model: Path, folder: Path, *, licences: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Write the bundle `model` to `folder` for CTranslate2, completely or not at all.

    `licences` are those of the training data (`reporting.data_table.licence_entries`); None if unknown. Raises
    `UserError` if `folder` has files, or if translating with the model takes more than a transformer.
    """
    import ctranslate2

    folder = Path(folder).resolve()
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UserError(f"{folder} exists: name a new folder to export to, or delete it first.")
    bundle = load_bundle(model)
    check_exportable(bundle.model, where=model)
    for name, settings in bundle.run.transforms.items():
        if settings.needs.get("source"):
            raise UserError(
                f"{model} cannot be exported: its transform {name} reads features of each source, which a plain "
                "transformer does not. `nmtcore translate` translates with it."
            )
    about = describe(bundle, library=f"CTranslate2 {ctranslate2.__version__}", licences=licences)
    vocabularies = {f"{side}_entries": vocabulary.entries for side, vocabulary in bundle.vocabularies.items()}
    with atomic_folder(folder) as partial:
        write_model(bundle.model, partial, **vocabularies, longest=about["longest"])
        for name in segmentation_files(bundle.run):
            shutil.copyfile(Path(model) / name, partial / name)
        write_json(partial / "nmtcore.json", about)
        write_text(partial / "README.md", Template(README).substitute(about))
        os.replace(partial, folder)


def describe(bundle: Bundle, *, library: str, licences: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return what nmtcore.json says.

    Its `options` of `Translator.translate_batch` come closest to the model's own search: CTranslate2's length penalty
    is n^alpha, n with `</s>`, as `fairseq` here; it has none of the form `gnmt`, which for long translations ranks as
    n^alpha does. `longest` is the number of positions that the longest source and translation take, rounded up.
    """
    run, search = bundle.run, bundle.search_settings()
    prefix, suffix = source_frame(bundle)
    words = {side: run.text_words(side) for side in SIDES}
    penalty = 0.0 if search.length_penalty == "none" else search.alpha
    longest = max(MAX_SUBWORDS + len(prefix) + len(suffix), *length_limits(search, [MAX_SUBWORDS]))
    limits = ("beam", "length_penalty", "alpha", "min_length", "max_length", "max_length_ratio", "max_length_extra")
    return {
        "format": EXPORT_FORMAT,
        "nmtcore": nmtcore.__version__,
        "library": library,
        **{key: getattr(run, key) for key in ("system", "dataset", "source", "target")},
        "words": {
            side: {"language": getattr(run, side), "tokeniser": settings.kind, "normalise": settings.normalise}
            | word_rules(settings, getattr(run, side))
            for side, settings in words.items()
        },
        "segmentation": {
            "kind": run.segmentation.kind,
            "codes": {side: codes_name(run.segmentation, side) for side in SIDES},
            "separator": SEPARATOR if run.segmentation.kind == "bpe" else None,
        },
        "reserved": list(SPECIALS),
        "source_prefix": bundle.vocabularies["source"].tokens(prefix),
        "source_suffix": bundle.vocabularies["source"].tokens(suffix),
        "output_tags": [
            entry for entry in bundle.vocabularies["target"].entries if not bundle.transforms.strip([entry])
        ],
        "search": {key: getattr(search, key) for key in limits},
        "options": {
            "beam_size": search.beam,
            "length_penalty": penalty,
            "min_decoding_length": search.min_length,
            "max_input_length": 0,
        },
        "longest": 1 << longest.bit_length(),
        "licences": None if licences is None else [dict(entry) for entry in licences],
    }


def source_frame(bundle: Bundle) -> tuple[list[int], list[int]]:
    """Return the ids before and after the subwords of every source, without `</s>`."""
    one = SideExamples(ids=Ragged.from_lists([[EOS]], "int32"), word_of_subword=Ragged.from_lists([[0]], "int32"))
    ids = bundle.transforms.for_translation(Examples(id=[0], source=one)).source.ids.values.tolist()
    prefix = [i for component in bundle.model.components for i in component.source_prefix]
    return [*prefix, *ids[: ids.index(EOS)]], ids[ids.index(EOS) + 1 :]


def check_exportable(model: TranslationModel, *, where: object) -> None:
    """Raise `UserError` if translating takes more than a transformer with sinusoids or relative positions does.

    `where` names the model in the message.
    """
    if not isinstance(model, Transformer):
        base = type(model).__name__.lower()
        raise UserError(f"{where} cannot be exported: its base is {base}, and only transformers can be exported.")
    relative = relative_positions(model)
    for component in model.components:
        one_of_two = isinstance(component, RelativePositions) and component is not relative
        if type(component) not in EXPORTABLE or one_of_two:
            raise UserError(
                f"{where} cannot be exported: its component {component.name} is not a part of a plain transformer. "
                "`nmtcore translate` translates with it."
            )


def relative_positions(model: Transformer) -> RelativePositions | None:
    """Return the model's component of relative positions, the first if there are several."""
    return next((c for c in model.components if isinstance(c, RelativePositions)), None)


def write_model(
    model: Transformer, folder: Path, *, source_entries: Sequence[str], target_entries: Sequence[str], longest: int
) -> None:
    """Write a model that passes `check_exportable`, with its vocabularies, into an existing folder, in fp32.

    It reads and writes at most `longest` tokens unless it has relative positions. It adds `</s>` to sources by itself,
    but no prefix.
    """
    from ctranslate2.specs import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec
    from ctranslate2.specs.common_spec import Activation

    activations = {"relu": Activation.RELU, "swish": Activation.SWISH, "gelu": Activation.GELU}
    relative = relative_positions(model)
    encoder, decoder = (
        make(
            len(getattr(model, stack)),
            model.settings.heads,
            pre_norm=model.settings.norm == "pre",
            activation=activations[model.settings.activation],
            relative_position=relative is not None,
        )
        for make, stack in ((TransformerEncoderSpec, "encoder"), (TransformerDecoderSpec, "decoder"))
    )
    spec = TransformerSpec(encoder, decoder)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = (SPECIALS[i] for i in (UNK, BOS, EOS))
    spec.config.decoder_start_token = SPECIALS[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.encoder[0].around_attention.norm.eps
    encoder.embeddings[0].weight = _array(model.source_embedding.weight)
    decoder.embeddings.weight = decoder.projection.weight = _array(model.target_embedding.weight)
    encoder.scale_embeddings = decoder.scale_embeddings = model.settings.scaled_embeddings
    decoder.projection.bias = np.zeros(len(decoder.embeddings.weight), np.float32)
    if model.output_bias is not None:
        decoder.projection.bias += _array(model.output_bias)
    decoder.projection.bias[list(NEVER_GENERATED)] = FORBIDDEN
    _set_norm(encoder, model.encoder_norm)
    _set_norm(decoder, model.decoder_norm)
    _set_layers(encoder, model, "encoder", relative, longest)
    _set_layers(decoder, model, "decoder", relative, longest)
    spec.register_source_vocabulary(list(source_entries))
    spec.register_target_vocabulary(list(target_entries))
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def _set_layers(
    stack_spec: Any, model: Transformer, stack: str, relative: RelativePositions | None, longest: int
) -> None:
    """Copy the layers and the positions of a stack."""
    if relative is None:
        halves = model.settings.positions == "halves"
        table_SD = _array(sinusoids(longest, model.settings.width, halves=halves))
        has_sinusoids = model.has_sinusoids(stack)
        stack_spec.position_encodings.encodings = table_SD if has_sinusoids else np.zeros_like(table_SD)
    for i, (spec, layer) in enumerate(zip(stack_spec.layer, getattr(model, stack), strict=True)):
        _set_norm(spec.self_attention, layer.around_attention.norm)
        _set_linears(spec.self_attention.linear, (layer.attention.queries_keys_values, layer.attention.output))
        if relative is not None:
            # CTranslate2 clips distances: the label of far pairs is that of both outermost distances.
            keys_LE = _array(relative.keys[stack][i].weight)
            spec.self_attention.relative_position_keys = keys = np.concatenate([keys_LE[-1:], keys_LE])
            spec.self_attention.relative_position_values = np.zeros_like(keys)
        if stack == "decoder":
            _set_norm(spec.attention, layer.around_cross.norm)
            _set_linears(spec.attention.linear, (layer.cross.queries, layer.cross.keys_values, layer.cross.output))
        _set_norm(spec.ffn, layer.around_feed_forward.norm)
        _set_linears((spec.ffn.linear_0, spec.ffn.linear_1), (layer.feed_forward.inner, layer.feed_forward.outer))


def _set_linears(specs: Iterable[Any], linears: Iterable[nn.Linear]) -> None:
    for spec, linear in zip(specs, linears, strict=True):
        spec.weight, spec.bias = _array(linear.weight), _array(linear.bias)


def _set_norm(spec: Any, norm: nn.LayerNorm | nn.Identity) -> None:
    """Copy a norm; after the last layer of a post-norm stack there is none, here and there."""
    if isinstance(norm, nn.LayerNorm):
        spec.layer_norm.gamma, spec.layer_norm.beta = _array(norm.weight), _array(norm.bias)


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().float().numpy()
