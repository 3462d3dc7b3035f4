"""Names and ids in place of which a word says that there is none, as programs and people write it."""

from collections.abc import Sequence

from sense7.taxonomy import normalise_word
from sense7.workbook import ids
from sense7.workbook.scales import MISSING_WORDS, NO_NAME, PERHAPS_NO_NAME


def is_no_name(name: str) -> bool:
    """Whether a name is what programs write where there is none, such as #N/A and nan.

    Examples
    --------
    >>> is_no_name("#N/A"), is_no_name("NaN"), is_no_name("NA")
    (True, True, False)
    """
    return normalise_word(name) in NO_NAME or ids.is_error(name)


def report_perhaps_missing(
    table, column: str, names: Sequence[str | None], rows: Sequence[int], noun: str
) -> None:
    """Report names that may say that there is none: words such as NA and unknown, numbers such as 99 among others.

    Each stays a name. A PID that stands in one row alone is one participant anyway.
    """
    rows_of: dict[str, list[int]] = {}
    for name, row in zip(names, rows, strict=True):
        if name is not None:
            rows_of.setdefault(name, []).append(row)
    numbers = [ids.as_number(name) for name in rows_of]
    if None in numbers:  # among words no number is apart from others, so that 7, 8 and 9 say little
        codes = [number for number in numbers if number in ids.CODES and not 0 < number < 10]
    else:
        codes = ids.codes_among(numbers)
    for name, name_rows in rows_of.items():
        is_word = normalise_word(name) in PERHAPS_NO_NAME
        is_several = noun != "participant" or len(name_rows) > 1
        if is_several and (is_word or ids.as_number(name) in codes):
            entry = "perhaps-missing"
            if noun == "topic":
                entry = "perhaps-missing/topic"
            table.add(entry, column, name_rows, name, noun=noun)


def without_missing(
    table, column: str | int, names: Sequence[str | None], rows: Sequence[int]
) -> list[str | None]:
    """Names of which those are None that programs write for a missing one; a notice says which."""
    words = {name for name in set(names) - {None} if is_no_name(name)}
    word_rows = [row for name, row in zip(names, rows, strict=True) if name in words]
    table.add("missing-name", column, word_rows, words=", ".join(sorted(words)))
    return [None if name in words else name for name in names]


def report_group_perhaps_missing(table, position: int, names: Sequence[str | None]) -> None:
    """Report answers of participants that other programs write for a missing one; they stay groups."""
    words = {name for name in set(names) - {None} if normalise_word(name) in MISSING_WORDS}
    rows = [row for row, name in enumerate(names, 2) if name in words]
    column = table.sheet.header[position]
    table.add("perhaps-missing/group", position, rows, column=column, words=",".join(sorted(words)))
