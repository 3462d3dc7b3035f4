"""The official workbook format: read, check, write."""
