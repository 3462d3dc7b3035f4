"""Sentence vectors without a network: mean vectors of tokens, by the weights that the package wordllama carries."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse

from sense7.arguments import check_arguments
from sense7.errors import UserError

__all__ = ["sentence_vectors"]

PACKAGE = "wordllama"
"""Package whose weights are read. It is never imported: that would set up logging, and import what fetches files."""

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENS = "tokenizers/l2_supercat_tokenizer_config.json"
_AT_ONCE = 1000
"""Texts whose tokens are held at the same time: a list of tokens takes several times the memory of its text."""


def sentence_vectors(texts: Sequence[str]) -> np.ndarray:
    """Mean vector of the tokens of each text.

    Parameters
    ----------
    texts : sequence of str
        Any texts, of any length.

    Returns
    -------
    array, shape (texts, 256)
        What ``wordllama.WordLlama.load().embed(texts)`` returns, up to the last digits; 0 for an empty text.

    Raises
    ------
    UserError
        If the package or one of its two files is missing. No file is ever fetched.

    Notes
    -----
    The vectors of the 32,000 tokens were trained by Lee Miller on the input embeddings of large language models
    (WordLlama, 2024, MIT license). The tokens are those of Llama 2.

    Examples
    --------
    >>> sentence_vectors(["I feel sad.", "The train is late."]).shape  # doctest: +SKIP
    (2, 256)
    """
    texts = list(texts)
    found = np.empty((len(texts), _model()[1].shape[1]))
    for start in range(0, len(texts), _AT_ONCE):
        found[start : start + _AT_ONCE] = _vectors(texts[start : start + _AT_ONCE])
    return found


def _vectors(texts: Sequence[str]) -> np.ndarray:
    tokenizer, weights = _model()
    ids, ends = [], [0]
    for text in texts:  # text by text: a batch would start threads, which a process that forks can't have
        ids += tokenizer.encode(text, add_special_tokens=False).ids
        ends.append(len(ids))
    used, tokens = np.unique(np.array(ids, dtype=int), return_inverse=True)
    counts = sparse.csr_matrix((np.ones(len(ids)), tokens, ends), (len(texts), len(used)))
    counts.sum_duplicates()
    return counts @ weights[used].astype(float) / np.maximum(np.diff(ends), 1)[:, None]


@cache
def _model():
    """The tokenizer and the vectors of its tokens."""
    folder = _folder()
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / _TOKENS))
    return tokenizer, load_file(folder / _WEIGHTS)["embedding.weight"]


def _folder() -> Path:
    """Folder of the package.

    Raises
    ------
    UserError
        If it is not installed, or lacks a file.
    """
    found = find_spec(PACKAGE)
    if found is None or not found.origin:
        raise UserError(
            f"Sentence vectors need the package {PACKAGE}, which is not installed: it has no build for every system "
            f"and version of Python. Install it: pip install {PACKAGE}; without it, TF-IDF works."
        )
    folder = Path(found.origin).parent
    for name in (_WEIGHTS, _TOKENS):
        if not (folder / name).is_file():
            raise UserError(
                f"{folder / name}: this file of the package {PACKAGE} is missing. Install the version of the lock: "
                f"pip install --force-reinstall '{PACKAGE}==0.4.0.post1'."
            )
    return folder


check_arguments(globals())
