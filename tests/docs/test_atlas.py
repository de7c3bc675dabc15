"""docs/atlas.md says of each column of atlas.csv what the store says of it."""

from attnlimit.questions.atlas.columns import COLUMNS
from support.envs import ROOT


def test_every_column_is_explained_in_the_words_of_the_store():
    text = (ROOT / "docs/atlas.md").read_text()
    lines = text.partition("## The columns of atlas.csv")[2].split("```")[1].splitlines()[1:]
    assert lines == [f"{name}: {words}" for name, words in COLUMNS.items()]
