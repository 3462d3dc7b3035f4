"""From a workbook to a book: notebooks executed by papermill, pages by Jupyter Book."""
