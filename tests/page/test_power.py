"""`make power`: what is refused."""

import pytest

from attnlimit.page.power import main


def test_a_misspelt_claim_and_no_draws_are_refused():
    with pytest.raises(ValueError, match="CLAIMS: no claim 'head_above'; did you mean 'heads_above'"):
        main(100, "head_above")
    with pytest.raises(ValueError, match="DRAWS: 0 is too small"):
        main(0)
