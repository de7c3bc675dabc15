"""Cards of the page: a claim with its verdict, and a figure of the run beside it."""

from attnlimit.page.cards import cards, counts, looks, not_tested, undecided
from attnlimit.stats.verdicts import FAILS, HOLDS, LOOKS, UNDECIDED, Record

EVIDENCE = ["results/rates/heads.zarr.zip", "figure tails", "figure beta_vs_horizon", "results/rates.csv"]


def record(verdict: str | None, name: str = "one", left_out: str = "") -> dict:
    numbers = {"slope": 0.5}
    return Record(
        name,
        "β ≥ 1/(2(1+H²)) & more",
        verdict,
        "β 0.5",
        numbers,
        "a test",
        {"level": 0.95},
        EVIDENCE,
        "so",
        "yes",
        left_out,
    )._asdict()


def test_a_card_has_files_of_the_run_and_only_figures_that_are_there():
    (card,) = cards([record(HOLDS)], ["beta_vs_horizon"])
    assert card.files == ["rates/heads.zarr.zip", "rates.csv"]
    assert card.figures == ["beta_vs_horizon"]
    assert "<mfrac>" in card.claim and "&amp; more" in card.claim
    assert card.thresholds == "level 0.95" and '"slope": 0.5' in card.numbers


def test_claims_without_a_verdict_have_no_card_but_are_named():
    records = [record(HOLDS, "a"), record(None, "b", "theory"), record(UNDECIDED, "c"), record(FAILS, "d")]
    tested = cards(records, [])
    assert [card.id for card in tested] == ["a", "c", "d"]
    assert counts(tested) == {HOLDS: 1, FAILS: 1, UNDECIDED: 1}
    assert [card.id for card in undecided(tested)] == ["c"]
    assert [chapter for _, chapter in not_tested(records)] == ["theory"]


def test_looks_are_those_of_the_figures_with_names_of_their_own():
    shown = looks()
    assert {verdict: (look["symbol"], look["colour"]) for verdict, look in shown.items()} == LOOKS
    assert len({look["name"] for look in shown.values()}) == len(LOOKS)
