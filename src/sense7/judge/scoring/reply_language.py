"""In which language a text is written: by its script, and for Latin letters by its most frequent small words.

A small detector that would rather say nothing than guess: a text of few words, of mixed scripts, or between two
languages has none. It knows the languages listed here and takes none for another that is not.
"""

import re
import unicodedata
from collections import Counter

from sense7.arguments import check_arguments

__all__ = ["language_of"]

_SCRIPTS = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CJK": "Chinese",
    "ARABIC": "Arabic script",
    "CYRILLIC": "Cyrillic script",
    "DEVANAGARI": "Devanagari script",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
}
"""First word of a letter's Unicode name -> language, or script where several languages have it."""

_SMALL_WORDS = {
    "English": "the and to of is that it you for are with this have but what not your was they from can be i my me",
    "German": "der die das und ist nicht ich sie mit auf ein eine den dem zu dass von für es sich wie auch haben wir",
    "French": "le la les et est que vous je pas des une un pour dans ce qui avec sur de du ne mais cela votre être",
    "Spanish": "el la los las que y es en un una por con para no lo se su como pero más muy esto está usted me tu",
    "Italian": "il lo la gli che di è un una per con non sono come ma più questo si anche della del hai molto ti",
    "Portuguese": "o os as que e é em um uma por com para não se mais como mas isso você está seu sua do da muito",
    "Dutch": "de het een en is dat ik je van niet te met op voor zijn maar ook aan wat er hebben was heeft deze",
    "Swedish": "och att det är som en på för med inte jag du av har den till om men så ett vi kan var din",
    "Polish": "i w nie na się to jest z że do jak ale co o za po czy tak dla jego jestem może być twój",
    "Turkish": "ve bir bu için ile çok da de ne ama gibi daha olarak ben sen değil var kadar sonra olan",
}
"""Language in Latin letters -> small words that most texts of it hold."""

_WORDS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")

FEWEST_WORDS = 10
"""Words of a text in Latin letters below which nothing is said."""

_MOST_LETTERS = 2000
_MAJORITY = 0.7
_HITS = 0.12
_MARGIN = 1.3
NOT_KNOWN = "not known"


def language_of(text: str) -> str:
    """Return the language of a text, or its script, or ``not known``.

    Of the first 2,000 characters, seven tenths of the letters have to be of one script (Japanese is Kana with Chinese
    characters). In Latin letters, at least 12% of at least ten words have to be small words of one language, and 1.3
    times as many as of any other.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str

    Examples
    --------
    >>> language_of("That sounds hard. What would you say to them if you had the time, and what do they want from you?")
    'English'
    >>> language_of("Das klingt schwer. Was würden Sie sagen, wenn Sie die Zeit hätten, und was ist das für Sie?")
    'German'
    >>> language_of("それは大変でしたね。もう少し聞かせてください。"), language_of("ok 42")
    ('Japanese', 'not known')
    """
    start = text[:_MOST_LETTERS]
    scripts: Counter[str] = Counter()
    for letter, times in Counter(filter(str.isalpha, start)).items():
        scripts[unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]] += times
    total = sum(scripts.values())
    if not total:
        return NOT_KNOWN
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana and kana + scripts["CJK"] >= _MAJORITY * total:
        return "Japanese"
    script, letters = scripts.most_common(1)[0]
    if letters < _MAJORITY * total:
        return NOT_KNOWN
    return _latin(start) if script == "LATIN" else _SCRIPTS.get(script, NOT_KNOWN)


def _latin(text: str) -> str:
    words = _WORD.findall(text.casefold())
    if len(words) < FEWEST_WORDS:
        return NOT_KNOWN
    counts = Counter(words)
    hits = sorted(((sum(counts[word] for word in small), language) for language, small in _WORDS.items()), reverse=True)
    (most, language), (next_most, _) = hits[:2]
    return language if most >= _HITS * len(words) and most >= _MARGIN * next_most else NOT_KNOWN


check_arguments(globals())
