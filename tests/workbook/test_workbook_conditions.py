"""Which condition has the empathy prompt, guessed from names; what was guessed, and why not, is said."""

import pandas as pd
import pytest

from sense7.errors import UserError
from sense7.workbook.sheets import find_prompted


def found(*names, given=None):
    return find_prompted(pd.DataFrame({"condition": [*names, None]}), given, "mine.xlsx")


@pytest.mark.parametrize(
    "name",
    ["GPT-4o empathy", "gpt-empathic", "Emp", "GPT emph", "GptEmp", "with prompt", "Prompted", "GPT_EMPATHETIC"],
)
def test_a_name_that_speaks_of_it_is_found(name):
    assert found("plain", name) == (name, "guessed from its name")


@pytest.mark.parametrize(
    "name",
    [
        *("no empathy", "non prompted", "not prompted", "without empathy", "un prompted", "nonempathic", "noprompt"),
        *("unprompted", "unempathic", "temper", "contempt", "tempo"),
    ],
)
def test_a_name_that_denies_it_or_only_sounds_like_it_is_not(name):
    assert found("plain", name) == (None, "no condition's name speaks of empathy or of a prompt")
    assert found("with prompt", name)[0] == "with prompt"


def test_empathy_outweighs_a_prompt_and_two_of_a_kind_are_left_open():
    assert found("a prompt", "empathy") == ("empathy", "guessed from its name")
    assert found("empathy a", "empathy b", "prompt") == (
        None,
        "several conditions' names speak of it: empathy a, empathy b",
    )


def test_what_is_given_is_taken_or_refused_with_what_there_is():
    assert found("a", "empathy", given="a") == ("a", "given")
    with pytest.raises(UserError, match=r"mine\.xlsx: there is no condition 'c'\. Conditions in the file: 'a', 'b'\. "):
        found("b", "a", given="c")
    with pytest.raises(UserError, match=r"Conditions in the file: none\. Give one of them"):
        found(given="c")
