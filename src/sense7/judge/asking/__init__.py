"""A model is asked to rate conversations: requests, one connection, a journal of every answer, files of a run."""
