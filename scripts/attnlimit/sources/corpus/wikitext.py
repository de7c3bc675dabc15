"""Wikitext -> the prose of an article."""

import html
import re
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import pairwise

HEADING = re.compile(r"^(={2,6})\s*(.+?)\s*\1\s*$")
PROSE = 7  # the depth of a line below every heading
BACK_MATTER = re.compile(
    r"see also|external links|further reading|bibliography|sources|works cited|citations|gallery"
    r"|(?:foot)?notes(?: and references)?|references(?: and notes)?",
    re.I,
)

HIDDEN_LINKS = frozenset({"file", "image", "media", "category"})
# A wiki has older names for its files too, which its dump does not list: a link to a picture shows by its suffix.
PICTURE = re.compile(r"\.(?:jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|og[gav]|opus|webm|mp3|wav|flac|midi?)\s*$", re.I)
SISTER_LINKS = {"wikt", "wiktionary", "s", "wikisource", "w", "wikipedia", "wp"}
FIRST_FIELD = {"nowrap", "small", "smaller", "quote", "angbr", "vr", "nihongo", "ipa", "vanchor"}
LAST_FIELD = {"lang", "transl"}
RANGES = {"to", "and", "or", "by", "x", "-", "–"}

# Links, templates and tables nest: each pattern finds the innermost, and is applied until none is left.
LINK = re.compile(r"\[\[((?:(?!\[\[|\]\]).)*)\]\]", re.S)
TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
TABLE = re.compile(r"^[ :*]*\{\|(?:(?!^[ :*]*\{\|).)*?^\s*\|\}", re.M | re.S)

UNSEEN = "ref|math|nowiki|gallery|timeline|source|syntaxhighlight|imagemap|score"
TAGS = [
    (re.compile(r"<!--.*?(?:-->|\Z)", re.S), ""),
    (re.compile(r"<ref\b[^<>]*/>", re.I), ""),  # first: the next rule would run on to a later </ref>
    (re.compile(rf"<({UNSEEN})\b[^<>]*>.*?</\1\s*>", re.I | re.S), ""),
    (re.compile(r"(?<=[\w)\]])<sup>(?=[-−]?\d+</sup>)", re.I), "^"),  # 10^6, not 106
    (re.compile(r"<(?:br|li|p|hr)\b[^<>]*>", re.I), "\n"),
    (re.compile(r"</?[a-z][^<>]*>", re.I), ""),
    (re.compile(r"^\[\[[a-z-]{2,12}:[^][|]*\]\]\s*$", re.M), ""),  # the same article in another language
    (re.compile(r"\[(?:https?:|ftp:)?//[^][\s]+ *([^][]*)\]"), r"\1"),
]
REMAINS = [
    (re.compile(r"\{\{|\}\}|'{2,}|__[A-Z]+__|^-{4,}|^ *(?:\{?\||\!).*$", re.M), ""),
    (re.compile(r"\([\s;,:]*\)|(?<=\()[\s;,]+"), ""),  # what a pronunciation or a formula leaves behind
    (re.compile(r"[^\S\n]+"), " "),
    (re.compile(r" (?=[,;:)\n]|\.(?![.\d]))"), ""),
    (re.compile(r"^(?:[*#:;,) ]|\.(?![.\d]))+", re.M), ""),
]


def plain_text(wikitext: str, hidden: Collection[str] = HIDDEN_LINKS) -> str:
    """The prose of an article: each paragraph, list item or heading is one line.

    `hidden` are the prefixes of links that show no words, in small letters: those of files and categories.
    Heading words stay, as they do in the published corpus of the full run; sections of references and
    links go, if they have their English names, and so do headings that are left without text.
    """
    text = _until_still(LINK, partial(_link_words, hidden), _substitute(TAGS, wikitext))
    text = _until_still(TEMPLATE, _template_words, text)
    text = _until_still(TABLE, lambda table: "", text)
    # Entities come last: only now can a decoded "<" or "[[" no longer be taken for markup.
    text = _substitute(REMAINS, html.unescape(text))
    return "\n".join(_body(text.split("\n")))


def _substitute(rules: list[tuple[re.Pattern, str]], text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _until_still(pattern: re.Pattern, words: Callable[[re.Match], str], text: str) -> str:
    replaced = 1
    while replaced:
        text, replaced = pattern.subn(words, text)
    return text


def _link_words(hidden: Collection[str], link: re.Match) -> str:
    target, _, words = link[1].partition("|")
    prefix, _, page = target.partition(":")
    if prefix.strip().replace("_", " ").lower() in hidden or (prefix and PICTURE.search(page)):
        return ""
    return words or (page if prefix.lower() in SISTER_LINKS else target.lstrip(":"))


def _template_words(template: re.Match) -> str:
    """The words of a template that is part of a sentence; of all other templates, none."""
    name, *fields = (field.strip() for field in template[1].split("|"))
    name, fields = name.lower(), [re.sub(r"^(?:1|text)\s*=\s*", "", field) for field in fields]
    fields = [field for field in fields if field and not re.match(r"[\w-]+\s*=", field)]
    if not fields:
        return ""
    if name in FIRST_FIELD or name.startswith("lang-"):
        return fields[0]
    if name in LAST_FIELD:
        return fields[-1]
    if name == "convert":
        return " ".join(fields[: 4 if fields[1:2] and fields[1] in RANGES else 2])
    if name == "chem":
        return "".join(fields)
    return f"as of {fields[0]}" if name == "as of" else ""


def _body(lines: Iterable[str]) -> list[str]:
    """The lines that hold text, without back matter and without headings that nothing follows."""
    kept, dropping = [], PROSE
    for line in lines:
        heading = HEADING.match(line)
        depth, words = (len(heading[1]), heading[2]) if heading else (PROSE, line.strip())
        if heading and depth <= dropping:
            dropping = depth if BACK_MATTER.fullmatch(words) else PROSE
        if words and dropping == PROSE:
            kept.append((depth, words))
    pairs = pairwise([*kept, (0, "")])
    return [words for (depth, words), (next_depth, _) in pairs if depth == PROSE or depth < next_depth]
