"""The official workbook format: read, check, write."""

from sense7.workbook.diagnostics import Diagnostic, Diagnostics, WorkbookError
from sense7.workbook.options import ReadingOptions
from sense7.workbook.sheets import ParsedWorkbook, parse_sheets, parse_workbook, read_workbook
from sense7.workbook.xlsx import Sheet, read_sheets, write_sheets

__all__ = [
    "Diagnostic",
    "Diagnostics",
    "ParsedWorkbook",
    "ReadingOptions",
    "Sheet",
    "WorkbookError",
    "parse_sheets",
    "parse_workbook",
    "read_sheets",
    "read_workbook",
    "write_sheets",
]
