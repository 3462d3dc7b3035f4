"""The classifier's side: what is to be predicted, and how."""
