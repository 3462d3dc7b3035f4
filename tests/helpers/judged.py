"""What a judge's session has kept, for tests."""

from sense7.judge.journal import Journal


def kept_in(folder):
    """Answers and failures in the journal of a folder: (conversation, run) -> answer."""
    with Journal.reading(folder) as journal:
        if journal is None:
            return {}
        return {
            (name, run): answer
            for run in range(1, journal.content.get("runs", 0) + 1)
            for name, answer in journal.answers(run).items()
        }
