"""Sentence vectors: those of the package, from its two files alone, without a network."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.judge.scoring import sentence_vectors as module
from sense7.judge.scoring.sentence_vectors import PACKAGE, sentence_vectors

pytestmark = pytest.mark.skipif(find_spec(PACKAGE) is None, reason=f"{PACKAGE} has no wheel for this system")


@pytest.fixture(scope="module")
def theirs():
    """The vectors that the package itself computes of the same two files."""
    inference = pytest.importorskip("wordllama.inference")
    from tokenizers import Tokenizer

    _, weights = module._model()
    tokenizer = Tokenizer.from_file(str(module._folder() / module._TOKENS))
    return inference.WordLlamaInference(weights, tokenizer).embed


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=4))
@example(texts=["I feel sad.", "", "tea " * 500])
def test_vectors_are_those_of_the_package(theirs, texts):
    assert sentence_vectors(texts) == pytest.approx(theirs(texts), abs=1e-5)


def test_nothing_but_two_files_is_read_and_no_connection_is_made():
    code = """
import socket, sys

def refuse(*arguments, **named):
    raise AssertionError("a connection")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from sense7.judge.scoring.sentence_vectors import sentence_vectors
assert sentence_vectors(["tea"]).any()
print(sorted({"wordllama", "requests", "huggingface_hub"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_vectors_of_some_texts_at_a_time_are_those_of_all(monkeypatch):
    texts = [f"{number} trains are late" for number in range(7)]
    whole = sentence_vectors(texts)
    monkeypatch.setattr(module, "_AT_ONCE", 3)
    assert np.array_equal(sentence_vectors(texts), whole)


def test_no_text_is_a_vector_of_zeros():
    assert not np.any(sentence_vectors(["", ""]))
    assert sentence_vectors([]).shape == (0, 256)


def test_a_missing_file_is_named_with_how_to_mend_it(monkeypatch, tmp_path):
    package = tmp_path / "wordllama" / "__init__.py"
    package.parent.mkdir()
    package.touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    with pytest.raises(UserError, match=r"l2_supercat_256\.safetensors: this file .* missing\. .*pip install"):
        module._folder()
