"""Tables of a workbook described in Croissant 1.0, by which tools of machine learning find and read data sets.

The format reads CSV and no workbooks, so a description is of the tables Tasks, Messages and that of the participants
as CSV files. https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

import csv
import hashlib
import io
import re
from collections.abc import Mapping, Sequence

from sense7.taxonomy import CORE_COLUMNS, normalise_name
from sense7.workbook.ids import as_text
from sense7.workbook.template import explain
from sense7.workbook.xlsx import Sheet

__all__ = ["CONTEXT", "csv_text", "describe_tables", "shared_tables"]

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that version 1.0 of the format prescribes."""

_NAMES = {"PID", "TaskId", "Model"}
"""Columns of names, which are texts also where they look like numbers."""

_PLAIN = re.compile(r"[A-Za-z][\w-]*", re.ASCII)


def shared_tables(sheets: Mapping[str, Sheet], participants: str | None = None) -> dict[str, Sheet]:
    """Choose the sheets that the format describes, under the names of the format.

    Examples
    --------
    >>> list(shared_tables({"tasks": Sheet("tasks", [], []), "Notes": Sheet("Notes", [], [])}))
    ['Tasks']
    """
    official = {normalise_name(name): name for name in CORE_COLUMNS}
    tables = {official.get(normalise_name(name)): sheet for name, sheet in sheets.items()}
    tables.pop(None, None)
    return tables | ({"Participants": sheets[participants]} if participants else {})


def csv_text(sheet: Sheet) -> str:
    r"""Write a sheet as CSV, its columns named as :func:`describe_tables` names them.

    Examples
    --------
    >>> csv_text(Sheet("Tasks", ["PID", ""], [["P1", 4.0], [None, "a,b"]]))
    'PID,column-2\r\nP1,4\r\n,"a,b"\r\n'
    """
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(_columns(sheet))
    table.writerows([["" if cell is None else as_text(cell) for cell in row] for row in sheet.rows])
    return text.getvalue()


def describe_tables(tables: Mapping[str, Sheet], folder: str, about: Mapping) -> dict:
    """Describe tables as a data set of Croissant.

    Parameters
    ----------
    tables : mapping
        Name -> sheet, see :func:`shared_tables`.
    folder : str
        Where the CSV files lie, relative to the description.
    about : mapping
        Properties of the data set: name, description, license and others of schema.org.

    Returns
    -------
    dict
        JSON-LD. Each file has its SHA-256; each column its meaning where the official format has it.
    """
    files, records = [], []
    for name, sheet in tables.items():
        content = csv_text(sheet).encode()
        file = f"{folder}/{name}.csv"
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": f"{name}.csv",
                "contentUrl": file,
                "contentSize": f"{len(content)} B",
                "encodingFormat": "text/csv",
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )
        records.append(
            {
                "@type": "cr:RecordSet",
                "@id": name,
                "name": name,
                "field": [_field(name, column, sheet.column(position), file)
                          for position, column in enumerate(_columns(sheet))],
            }
        )  # fmt: skip
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **about,
        "distribution": files,
        "recordSet": records,
    }


def _columns(sheet: Sheet) -> list[str]:
    """Names of the columns; one that is not plain, or stands twice, goes by its number."""
    names: list[str] = []
    for number, header in enumerate(sheet.header, 1):
        plain = _PLAIN.fullmatch(header) and header not in names
        names.append(header if plain else f"column-{number}")
    return names


def _field(table: str, column: str, cells: Sequence, file: str) -> dict:
    kinds = {type(cell) for cell in cells if cell is not None}
    is_number = bool(kinds) and kinds <= {int, float} and column not in _NAMES
    official = next((one for one in CORE_COLUMNS.get(table, ()) if one.official == column), None)
    described = {"description": explain(official).replace("\n", " ")} if official else {}
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        **described,
        "dataType": "sc:Float" if is_number else "sc:Text",
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
