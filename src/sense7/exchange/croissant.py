"""Tables of a workbook described in Croissant 1.0, by which tools of machine learning find and read data sets.

The format reads CSV and no workbooks, so a description is of the tables Tasks, Messages and that of the participants
as CSV files. https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

import importlib.resources
import json
import re
from collections.abc import Mapping

from sense7.csv_text import csv_text
from sense7.files import digest_of
from sense7.taxonomy import CORE_COLUMNS, normalise_name
from sense7.workbook.writing import explain
from sense7.workbook.xlsx import Sheet

CONTEXT = json.loads(
    (importlib.resources.files(__package__) / "croissant_context.json").read_text("utf-8")
)
"""The context that version 1.0 of the format prescribes."""


def shared_tables(sheets: Mapping[str, Sheet], participants: str | None = None) -> dict[str, Sheet]:
    """Choose the sheets that the format describes, under the names of the format.

    Examples
    --------
    >>> list(shared_tables({"tasks": Sheet("tasks", [], []), "Notes": Sheet("Notes", [], [])}))
    ['Tasks']
    """
    official = {normalise_name(name): name for name in CORE_COLUMNS}
    tables = {}
    for name, sheet in sheets.items():
        if normalise_name(name) in official:
            tables[official[normalise_name(name)]] = sheet
    if participants:
        tables["Participants"] = sheets[participants]
    return tables


def sheet_as_csv(sheet: Sheet) -> str:
    r"""Write a sheet as CSV, its columns named as :func:`describe_tables` names them.

    Examples
    --------
    >>> sheet_as_csv(Sheet("Tasks", ["PID", ""], [["P1", 4.0], [None, "a,b"]]))
    '"PID","column-2"\n"P1",4\n"","a,b"\n'
    """
    rows: list[list] = [_columns(sheet)]
    for row in sheet.rows:
        cells = list(row)
        for column, cell in enumerate(cells):
            if isinstance(cell, float) and cell.is_integer():
                cells[column] = int(cell)
        rows.append(cells)
    return csv_text(rows)


def describe_tables(tables: Mapping[str, Sheet], folder: str, about: Mapping) -> dict:
    """Describe tables as a data set of Croissant.

    ``tables`` as :func:`shared_tables` gives them; ``folder`` holds the CSV files, relative to the description; and
    ``about`` are properties of the data set. Each file has its SHA-256; each column its meaning, if known.
    """
    files, records = [], []
    for name, sheet in tables.items():
        content = sheet_as_csv(sheet).encode()
        file = f"{folder}/{name}.csv"
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": f"{name}.csv",
                "contentUrl": file,
                "contentSize": f"{len(content)} B",
                "encodingFormat": "text/csv",
                "sha256": digest_of(content),
            }
        )
        format_columns = {column.official: column for column in CORE_COLUMNS.get(name, ())}
        columns = []
        for position, column in enumerate(_columns(sheet)):
            types = {type(cell) for cell in sheet.column(position) if cell is not None}
            # Names are texts also where they look like numbers.
            is_name = column in ("PID", "TaskId", "Model")
            is_number = bool(types) and types <= {int, float} and not is_name
            field = {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column}
            if column in format_columns:
                field["description"] = explain(format_columns[column]).replace("\n", " ")
            field["dataType"] = "sc:Float" if is_number else "sc:Text"
            field["source"] = {"fileObject": {"@id": file}, "extract": {"column": column}}
            columns.append(field)
        records.append({"@type": "cr:RecordSet", "@id": name, "name": name, "field": columns})
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
    names = []
    for number, header in enumerate(sheet.header, 1):
        is_plain = re.fullmatch(r"[A-Za-z][\w-]*", header, re.ASCII) is not None
        names.append(header if is_plain and header not in names else f"column-{number}")
    return names
