"""Statistics: frames and arrays in, frames of estimates out. One idea a module.

Every table of estimates has the columns estimate, low, high, n, unit, method and reason,
so that it can be shown and recorded as it is. Where something can't be computed, the
estimate is NaN and ``reason`` says why.
"""
