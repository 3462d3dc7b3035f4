"""The classifier's side: what is to be predicted, and how."""

DEFAULT_MODEL = "gpt-4o"
