"""Names and codes of languages."""

import re
from collections.abc import Collection, Iterable, Sequence

from ..config import RunConfig
from ..errors import ConfigError

UNDETERMINED = "und"
"""The ISO 639 code of an undetermined language."""
_NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto",
    "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "ko": "Korean", "la": "Latin", "lb": "Luxembourgish", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian",
    "ms": "Malay", "mt": "Maltese", "nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
_TWO_LETTERS = {
    "ara": "ar", "bul": "bg", "cat": "ca", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "eng": "en",
    "epo": "eo", "est": "et", "eus": "eu", "fas": "fa", "fin": "fi", "fra": "fr", "gle": "ga", "glg": "gl",
    "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ind": "id", "isl": "is", "ita": "it",
    "jpn": "ja", "kat": "ka", "kor": "ko", "lat": "la", "lit": "lt", "lav": "lv", "mkd": "mk", "nld": "nl",
    "nob": "nb", "nor": "no", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "slk": "sk", "slv": "sl",
    "spa": "es", "sqi": "sq", "srp": "sr", "swe": "sv", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur",
    "vie": "vi", "zho": "zh",
}  # fmt: skip
"""ISO 639-3 to ISO 639-1 codes of the languages above."""
_GROUPS = {
    "aav": "Austroasiatic languages", "afa": "Afroasiatic languages", "alv": "Atlantic-Congo languages",
    "art": "constructed languages", "bat": "Baltic languages", "bnt": "Bantu languages", "cel": "Celtic languages",
    "cpf": "French-based creoles", "cpp": "Portuguese-based creoles", "dra": "Dravidian languages",
    "euq": "Basque languages", "fiu": "Finno-Ugric languages", "gem": "Germanic languages",
    "gmq": "North Germanic languages", "gmw": "West Germanic languages", "grk": "Greek languages",
    "iir": "Indo-Iranian languages", "inc": "Indic languages", "ine": "Indo-European languages",
    "ira": "Iranian languages", "itc": "Italic languages", "mul": "many languages", "phi": "Philippine languages",
    "poz": "Malayo-Polynesian languages", "roa": "Romance languages", "romance": "Romance languages",
    "sem": "Semitic languages", "sla": "Slavic languages", "trk": "Turkic languages", "urj": "Uralic languages",
    "zle": "East Slavic languages", "zls": "South Slavic languages", "zlw": "West Slavic languages",
}  # fmt: skip
"""Names of groups by the ISO 639-5 codes in OPUS-MT's names of models."""


_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*|[A-Z]{2,12}(_[A-Z]{1,12})*")
"""A code of ISO 639, perhaps with script or region (zho_Hans), or OPUS-MT's group (ROMANCE)."""


def language_code(text: str) -> str | None:
    """The typed code, or the code of the language with this English name; None for other text."""
    typed = text.strip()
    by_name = {name.casefold(): code for code, name in _NAMES.items()}
    return by_name.get(typed.casefold()) or (typed if _CODE.fullmatch(typed) else None)


def two_letter_code(code: str) -> str:
    """The ISO 639-1 code, such as de for `deu` and `de_AT`; unknown codes stay unchanged."""
    language = code.replace("-", "_").partition("_")[0].lower()
    language = _TWO_LETTERS.get(language, language)
    return language if language in _NAMES else code


def language_name(code: str) -> str:
    """The English name of the language or group; its code if that is not known."""
    return _NAMES.get(two_letter_code(code)) or _GROUPS.get(code.lower(), code)


def language_in_words(code: str) -> str:
    """Its name for a sentence; “an unknown language” if it is undetermined."""
    return "an unknown language" if code == UNDETERMINED else language_name(code)


_OPEN, _CLOSE = ">>", "<<"
_MOST_LISTED = 12
_FIRST_CODE = re.compile(r"\A\s*(>>[^\s<>]+<<\s*)?")


def is_target_code(token: str) -> bool:
    """Whether a token selects the target language, such as `>>fra<<`."""
    return token.startswith(_OPEN) and token.endswith(_CLOSE)


def inner_code(code: str) -> str:
    """The letters of a code such as `>>fra<<`: fra."""
    return code.removeprefix(_OPEN).removesuffix(_CLOSE)


def code_of(text: str, codes: Collection[str]) -> str | None:
    """The code `>>xx<<` that a text begins with; None if it is not one of `codes`."""
    text = text.lstrip()
    code = text[: text.find(_CLOSE) + len(_CLOSE)]
    return code if code in codes else None


def codes_for(language: str, codes: Iterable[str]) -> list[str]:
    """Those of the codes `>>xx<<` that a language names, by code, letters, another code or name.

    Several only if each is for another script or region.
    """
    typed = inner_code(language.strip())
    same = [code for code in codes if inner_code(code).casefold() == typed.casefold()]
    known = two_letter_code(language_code(typed) or typed)
    return same or [code for code in codes if two_letter_code(inner_code(code)) == known]


def listed_codes(codes: Sequence[str]) -> str:
    """The letters of codes `>>xx<<` for a message: “deu, fra, nld”; of many, the first."""
    return ", ".join(map(inner_code, codes[:_MOST_LISTED])) + (
        " …" if len(codes) > _MOST_LISTED else ""
    )


def chosen_code(language: str, codes: Sequence[str], run: RunConfig) -> str:
    """A model's code for a language, named by any of its codes or in English: fra, fr, French.

    Args:
        language: its name.
        codes: the tokens `>>xx<<` of the model; none if it has one target language.
        run: of the model.

    Raises:
        ConfigError: the model has no code for it, or several.
    """
    if not codes:
        target = language_name(run.data.target_language)
        only = "copies symbols" if run.is_copy_task else f"translates only into {target}"
        raise ConfigError(
            f"The target language {language[:60]!r} has no effect: this model {only}. Omit it."
        )
    matching = codes_for(language, codes)
    if len(matching) == 1:
        return matching[0]
    problem = "has several codes in this model" if matching else "is none of this model"
    listed = listed_codes(matching or codes)
    more = (
        "; `augenmerk info` and `Translator.target_codes` list all of them"
        if listed.endswith("…")
        else ""
    )
    raise ConfigError(
        f"The target language {language[:60]!r} {problem}. Choose one of {listed}{more}."
    )


def with_code(text: str, code: str, *, keeps_own: bool = False) -> str:
    """The text with this code `>>xx<<` for the one it begins with, unless it keeps that one."""
    own = _FIRST_CODE.match(text)
    assert own is not None  # it also matches nothing
    return text if keeps_own and own[1] else f"{code} {text[own.end() :]}"


def sentence_with_code(text: str, code: str | None, *, keeps_own: bool = False) -> str:
    """`with_code` of a sentence. A blank text, and without a code any text, stays as it is."""
    return with_code(text, code, keeps_own=keeps_own) if code is not None and text.strip() else text


COMMON_WORDS = {
    "de": """als am auf aus bei beim das dem den der des die durch ein eine einem einen einer eines er es für hat ich
    im ist mit nach nicht sein sich sie sind und vom von vor wie wir zu zum zur zwei über""",
    "en": """a and are at by can for from has have he his how i into is it its my near not of on or our she that the
    their them there they this three to two up we what where which while who with you your""",
    "fr": """a au aux avec ce cette dans deux elle elles est et il ils je la le les mais ne nous on ont ou où par
    pas plus pour qu'il qui sa se ses son sont sur tu un une vous à été être""",
    "es": """al como con cuando del dos el ella es esta este está están ha hay la las lo los mi muy más no para
    pero por que quien se son su sus un una uno y yo él""",
}
"""Frequent words of each language.

A word in several lists decides nothing between these; “de” and “en” are missing in French and
Spanish, as Dutch has them, too.
"""


FUNCTION_WORDS = {
    "de": """ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes aneinander ans
    anstatt auch auf aufeinander aufs aus auseinander außer außerhalb befinden befindet bei beide beiden beider beim
    bereits bevor bin bis bist da dabei dadurch dafür dagegen daher dahin dahinter damit danach daneben dann daran
    darauf darf darin darüber darum darunter das daß dass dasselbe davon davor dazu dazwischen dein deine deinem
    deinen deiner dem den denen denn denselben der deren derer derselbe derselben des dessen dich die diese dieselbe
    diesem diesen dieser dieses dir doch dort drauf drin du durch durchs dürfen durfte eben ein einander eine einem
    einen einer eines einige einigen einiger empor entgegen entlang entweder er es etwa etwas euch euer eure fest fort
    für fürs ganz gegen gegeneinander gegenüber gehabt gemäß gerade gewesen geworden gibt habe haben habt halt hast
    hat hatte hätte hatten hätten her herab heran herauf heraus herbei herein herüber herum herunter hervor hier
    hierbei hin hinab hinan hinauf hinaus hinein hinter hintereinander hinterm hinters hinüber hinunter hinweg ich ihm
    ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem innerhalb ins irgendein irgendeine irgendeinem
    irgendeinen irgendeiner ist je jede jedem jeden jeder jedes jedoch jemand jemandem jemanden jene jenem jenen jener
    jenes jetzt kann kannst können könnt konnte könnte konnten könnten lassen lässt läßt los machen macht mag mal man
    manche manchen mehrere mehreren mehrerer mein meine meinem meinen meiner meines mich mir mit miteinander mitsamt
    mittels möchte möchten mögen muß muss müssen musste mussten nach nachdem neben nebeneinander noch nun nur ob
    oberhalb obwohl oder ohne per pro rückwärts samt schon sehr sei seid seien sein seine seinem seinen seiner seines
    seit selber selbst sich sie sind so sodass solche solchem solchen solcher solches soll sollen sollte sollten
    sondern sowie sowohl statt trotz tun tut über überm übers um umher ums und uns unser unsere unserem unseren
    unserer unter unterhalb unterm viele vielen vieler vom von voneinander vor vorbei vorm vorüber vorwärts während
    wann war wäre waren wären warst wart warum was weder weg wegen weil welche welchem welchen welcher welches wem wen
    wenige wenigen wenn wer werde werden werdet wessen wie will wir wird wirst wo wobei wodurch wofür woher wohin wohl
    wollen wollte wollten womit woran worauf worden worin wovon wozu wurde würde wurden würden ziemlich zu zueinander
    zum zur zurecht zurück zusammen zwar zwischen""",
}
"""Words that carry little meaning of their own, by language: all others are content words.

Articles, pronouns, prepositions, conjunctions, auxiliary verbs and particles, but not negations.
"""


def likely_language(words: Iterable[str], source: str) -> str:
    """The code of the language of most of the common words, if it is not `source`; otherwise empty.

    Of languages with equally many, it is the first in `COMMON_WORDS`. Also empty if the common
    words of the source language are not known, because other languages share many of them.
    """
    typed = {word.lower() for word in words}
    source = two_letter_code(source)
    numbers = {
        code: len(typed.intersection(common.split())) for code, common in COMMON_WORDS.items()
    }
    code = max(numbers, key=numbers.__getitem__)
    return code if numbers[code] > numbers.get(source, len(typed)) else ""


def a_sentence_in(code: str) -> str:
    """A phrase such as “a German sentence”; “a sentence” if the code names no language."""
    name = _NAMES.get(two_letter_code(code))
    if name is None:
        return "a sentence"
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name} sentence"
