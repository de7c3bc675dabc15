"""What a text is called where people read it."""


def text_name(corpus: dict) -> str:
    """The title of a corpus if it has one, else the name of its file, folder or repository; "" without a corpus."""
    return corpus.get("title") or corpus.get("name", "")
