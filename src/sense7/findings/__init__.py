"""Findings: one module for each notebook that shows one, of the same name; each gives tables of estimates."""
