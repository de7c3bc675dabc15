"""A stream is told by its seed, its name and each number of its address."""

from attnlimit.base.seeds import generator


def test_streams_differ_by_name_and_by_each_number():
    addresses = [(7, "fit_rates", 1, 2), (7, "other", 1, 2), (8, "fit_rates", 1, 2), (7, "fit_rates", 2, 1)]
    firsts = {int(generator(*address).integers(2**63)) for address in addresses}
    assert len(firsts) == len(addresses)
    again = {int(generator(*address).integers(2**63)) for address in addresses}
    assert firsts == again
