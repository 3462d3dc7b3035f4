"""The official workbook format: read, check, write. A name comes from its module when it is asked for."""

import importlib

_WHERE = dict.fromkeys(("Diagnostic", "Diagnostics", "WorkbookError"), "diagnostics") | {
    "ReadingOptions": "options"
}
_WHERE |= dict.fromkeys(
    ("ParsedWorkbook", "parse_sheets", "parse_workbook", "read_workbook"), "sheets"
)
_WHERE |= dict.fromkeys(("Sheet", "read_sheets", "write_sheets"), "xlsx")
__all__ = list(_WHERE)


def __getattr__(name: str):
    if name in _WHERE:
        return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
