"""Released ratings laid out as workbooks, for tests that take one."""

from sense7.sources.converters import QUESTIONS, official_sheets
from sense7.sources.released import EXPERTS, NO_TEXT, judged_conversations, source_sheet


def lend_an_ear_sheets():
    """The experts' ratings of Lend an Ear: one task per conversation and expert, one exchange without text each."""
    table = judged_conversations()
    table = table[table["corpus"] == "lend_an_ear"].set_index(["conversation", "question"])
    conversations = []
    for name in table.index.unique("conversation"):
        for expert in EXPERTS:
            task = {"PID": expert, "Model": "human-supporter", "TaskId": f"{name}-{expert}", "src_conv_id": name}
            ratings = {
                dimension: int(table.loc[(name, question.replace(" ", "_")), expert])
                for dimension, question in QUESTIONS.items()
            }
            conversations.append((task, [("user", NO_TEXT), ("assistant", NO_TEXT)], ratings))
    return [*official_sheets(conversations), source_sheet("judged_conversations")]
