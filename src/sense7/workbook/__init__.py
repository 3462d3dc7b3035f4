"""The official workbook format: read, check, write. A name comes from its module when it is asked for."""

import importlib

_WHERE = {
    "Diagnostic": "diagnostics",
    "Diagnostics": "diagnostics",
    "WorkbookError": "diagnostics",
    "Reading": "reading",
    "parse_reading": "reading",
    "ParsedWorkbook": "sheets",
    "parse_sheets": "sheets",
    "parse_workbook": "sheets",
    "read_workbook": "sheets",
    "Sheet": "xlsx",
    "read_sheets": "xlsx",
    "write_sheets": "xlsx",
}
__all__ = list(_WHERE)


def __getattr__(name: str):
    if name in _WHERE:
        return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
