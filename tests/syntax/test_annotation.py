"""Annotations in CoNLL-U."""

from nmtcore.syntax.annotation import Annotation, conllu_sentence, failed


def test_a_sentence_has_ten_columns_and_ends_with_an_empty_line():
    annotation = Annotation(head=[2, 0], deprel=["det", "root"], upos=["DET", "NOUN"])
    assert conllu_sentence(["the", "dog"], annotation, sent_id=7) == (
        "# sent_id = 7\n1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    )


def test_missing_annotations_are_underscores_and_white_space_becomes_spaces():
    assert conllu_sentence(["a\tb", "\u2028"], failed("why")) == (
        "1\ta b\t_\t_\t_\t_\t_\t_\t_\t_\n2\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )


def test_the_text_is_a_comment_of_one_line():
    annotation = Annotation(head=[0])
    assert conllu_sentence(["a"], annotation, sent_id=1, text=" a\u2028b\n") == (
        "# sent_id = 1\n# text = a b\n1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    )
    assert conllu_sentence([], annotation, text="") == "# text =\n\n"
