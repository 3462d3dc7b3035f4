"""What a judge is asked: the prompt, and the parameters of the request, as the authors send them."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from sense7.errors import UserError
from sense7.files import reason

__all__ = ["DEFAULT_MODEL", "EXAMPLES", "Prompt"]

SYSTEM_MESSAGE = "You are a helpful AI assistant"
"""Without a full stop, as the authors send it."""

REQUEST = {
    "temperature": 0.0,
    "top_p": 1.0,
    "max_tokens": 3000,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""The parameters of a request, as the authors send them: 0.0 and not 0, the penalties written out, no seed."""

DEFAULT_MODEL = "gpt-4o"

CHAT = "{chat}"
EXAMPLES = "~~EXAMPLES~~"
"""Placeholders of a prompt, as the authors write them."""

LARGEST = 2**20
"""Bytes that a prompt may have; more is another kind of file, given by mistake."""

_PLACEHOLDER = re.compile("|".join(map(re.escape, (CHAT, EXAMPLES))))
BUNDLED = Path(__file__).parent / "prompts"
"""Folder of our own prompts."""


@dataclass(frozen=True)
class Prompt:
    """The text of the user message, with places for the conversation and for rated examples."""

    name: str
    text: str

    @classmethod
    def bundled(cls) -> "Prompt":
        """Return the companion's own prompt. It is not the authors', whose text is not known here."""
        return cls.read(BUNDLED / "empathy.txt")

    @classmethod
    def read(cls, path: str | Path) -> "Prompt":
        """Read a prompt from a text file in UTF-8; it is named after the file."""
        path = Path(path)
        if path.exists() and not path.is_file():  # a pipe might never end
            raise UserError(f"{path}: this is no ordinary file. Give the path of a prompt's text file.")
        try:
            if (size := path.stat().st_size) > LARGEST:
                raise UserError(
                    f"{path}: {size / 2**20:,.0f} MB, and a prompt has at most {LARGEST // 2**20}. "
                    "Give the path of a prompt's text file."
                )
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise UserError(f"{path}: there is no such file. Check the path of the prompt.") from None
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path}: byte {error.start + 1:,} of the prompt is not UTF-8. Save the file as plain text in UTF-8."
            ) from None
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: can't be read ({reason(error)}). Check its path and permissions.") from None
        if CHAT not in text:
            raise UserError(f"{path}: the prompt has no {CHAT}. Write {CHAT} where the conversation is to stand.")
        return cls(path.stem, text)

    @property
    def sha256(self) -> str:
        """Hash of the text in UTF-8, placeholders and all."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def takes_examples(self) -> bool:
        """Whether the text has a place for examples."""
        return EXAMPLES in self.text

    def fill(self, chat: str, examples: str = "") -> str:
        """Put a conversation and examples into their places."""
        if examples and not self.takes_examples:
            raise UserError(f"The prompt {self.name} has no {EXAMPLES}. Write {EXAMPLES} where examples are to stand.")
        values = {CHAT: chat, EXAMPLES: examples}
        return _PLACEHOLDER.sub(lambda match: values[match[0]], self.text)
