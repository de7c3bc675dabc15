"""Bytes of a text -> its characters: UTF-8, else Windows-1252, which older programs write and which holds Latin-1.

Standard library only: the host that plans the jobs may have nothing else.
"""

import codecs

LONGEST = 5_000_000  # bytes of one text: a tokenizer needs some 90 times as many
UTF_8, WINDOWS = "utf-8-sig", "cp1252"
TOO_LONG = f"over {LONGEST:,} bytes for one text; cut it into files of one article each, or leave it out"


def encoding_of(content: bytes, whole: bool = True) -> str:
    """UTF-8 or Windows-1252; raise for what is neither. Content that is not whole may end within a character."""
    if b"\0" in content:
        raise ValueError("holds NUL bytes, as UTF-16 does, or what is no text; save it as UTF-8 or leave it out")
    for encoding in (UTF_8, WINDOWS):
        try:
            codecs.getincrementaldecoder(encoding)().decode(content, whole)
        except UnicodeDecodeError:
            continue
        return encoding
    raise ValueError("neither UTF-8 nor Windows-1252; save it as UTF-8 or leave it out")
