"""The page: every record with its verdict, and no markup of its own making."""

from attnlimit.page.claims_page import counted, write_page
from attnlimit.stats.verdicts import FAILS, HOLDS, LOOKS, Record

RECORDS = [
    Record("a", "C'(R) < e^R", HOLDS, "in short", {"power": 3.14159}, "test", {"level": 0.95}, ["figure one"], "why"),
    Record(
        "b", "<script>", FAILS, "in short", {}, "test", {"level": 0.95}, [], "why & how", "hardly: <known>"
    )._replace(rule="fit_b", function="claims/b.py: judge", test_file="tests/claims/test_b.py"),
]


def test_verdicts_are_counted():
    assert counted(RECORDS) == "2 claims. holds: 1; does not hold: 1; not tested at this size: 0"


def test_words_are_escaped_and_numbers_short(tmp_path):
    write_page(RECORDS, tmp_path / "claims.html")
    page = (tmp_path / "claims.html").read_text()
    assert "C&#x27;(R) &lt; e^R" in page and "&lt;script&gt;" in page and "<script>" not in page
    assert "why &amp; how" in page and "3.142" in page and "3.14159" not in page
    for record in RECORDS:
        assert f'<tr id="{record.id}">' in page and f"{LOOKS[record.verdict].symbol} {record.verdict}" in page


def test_the_page_says_whether_a_claim_could_have_failed_and_leads_to_its_code(tmp_path):
    write_page(RECORDS, tmp_path / "claims.html")
    page = (tmp_path / "claims.html").read_text()
    assert "<th>Could it have failed?</th>" in page and "<td>hardly: &lt;known&gt;</td>" in page
    assert "rule fit_b, claims/b.py: judge, tests/claims/test_b.py" in page
