"""What the software says of itself, or what is missing."""

import pytest

from attnlimit.archive.citation import read_citation


def test_a_citation_without_a_date_is_refused(tmp_path):
    path = tmp_path / "CITATION.cff"
    path.write_text("title: attnlimit\nversion: 1\n")
    with pytest.raises(ValueError, match="CITATION.cff: no date-released, license, authors"):
        read_citation(path)
