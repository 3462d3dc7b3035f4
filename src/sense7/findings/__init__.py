"""Findings: a study in, tables of estimates out; one module or package for each notebook, of the same name.

Every table of estimates has the columns estimate, low, high, n, unit, method and reason,
so that it can be shown and recorded as it is. Where something cannot be computed, the
estimate is NaN and ``reason`` says why.
"""
