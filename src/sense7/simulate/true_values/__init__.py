"""True values of a simulated study, by plain array code that uses none of this library's statistics.

``keys.csv`` is the table from the key of a value to the function that computes it (:mod:`.table`). Each function is in
one of the modules :mod:`.ratings`, :mod:`.poor_turns`, :mod:`.conversations` and :mod:`.judge`, and computes its values
from one study in arrays. :mod:`.population` and :mod:`.judge` average them over many large studies.
"""
