"""Pages hold what they are given, escaped, and ask the network for nothing."""

from html.parser import HTMLParser

from attnlimit.base.job import QUICK_LOOK
from attnlimit.page.html import page, paragraph, section, table


class Reader(HTMLParser):
    """Tags, and the text of each cell and heading."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.links, self.open, self.texts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        self.texts += [""] if tag in ("td", "th", "p", "h1", "h2") else []

    def handle_data(self, data):
        if self.texts:
            self.texts[-1] += data


def test_a_page_reads_back_and_needs_nothing_from_elsewhere():
    rows = [("a <b> & c", 1234, 5.06), ("d", 7, 12345.0)]
    found = Reader(page("one & two", [section("first", paragraph("1 < 2")), table(("name", "count", "seconds"), rows)]))
    texts = [text.strip() for text in found.texts]
    assert texts == [
        *("one & two", "first", "1 < 2", "name", "count", "seconds"),
        *("a <b> & c", "1,234", "5.1", "d", "7", "12,345.0"),
    ]
    assert not {"script", "link", "img", "b"} & set(found.tags)
    assert found.links == []


def test_a_quick_look_is_said_to_be_one_in_the_title():
    assert QUICK_LOOK not in page("one", [])
    assert page("one", [], quick_look=True).count(f"one ({QUICK_LOOK})") == 2  # of the tab and of the page
