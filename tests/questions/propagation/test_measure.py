"""Errors after every layer: their formulas in float64, the dense limit, blocks that jobs may share out in any way."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.parts import REPLICATES_AT_ONCE, share
from attnlimit.questions.propagation.measure import STATISTICS, Draws, chosen_blocks, measure_blocks
from attnlimit.sampling.joining import join_parts
from attnlimit.sources.model.bert import load
from attnlimit.sources.model.drawn_keys import dense_states, drawn_states
from support.small_models import save_checkpoint

LAYERS = 3
DRAWS = Draws([4, 16, 64], [16, 64], 2, True, seed=5)
NUMBERS = [2, 3, 7]
BLOCKS = [np.random.default_rng(number).integers(2, 40, 20 + number) for number in NUMBERS]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_checkpoint("distilbert", folder)
    return load(folder)


@pytest.fixture(scope="module")
def errors(model) -> xr.Dataset:
    return measure_blocks(model, BLOCKS, NUMBERS, DRAWS, LAYERS)


def expected(drawn: np.ndarray, dense: np.ndarray) -> list[float]:
    """The three distances between states (token, feature), written out."""
    covariances = [np.cov(states.T, bias=True) for states in (drawn, dense)]
    mean = np.linalg.norm(drawn.mean(0) - dense.mean(0))
    pointwise = np.sqrt((np.linalg.norm(drawn - dense, axis=1) ** 2).mean())
    return [mean, np.linalg.norm(covariances[0] - covariances[1]), pointwise]


def test_errors_are_distances_to_the_dense_states(model, errors):
    """All layers drawn, and the middle one alone from the dense states before it."""
    number, tokens, n = NUMBERS[1], BLOCKS[1], 16
    dense = dense_states(model, tokens)
    counts = [DRAWS.counts(len(tokens), number, layer, n) for layer in range(LAYERS)]
    found = errors.sel(block=number)
    for layer, states in enumerate(drawn_states(model, dense[:1], counts)):
        exact = dense[layer + 1].double().numpy()
        for replicate, drawn in enumerate(states.double().numpy()):
            values = found["error"].sel(layer=layer, n=n, replicate=replicate)
            np.testing.assert_allclose(values, expected(drawn, exact), rtol=1e-3)
        spread = np.sqrt(((exact - exact.mean(0)) ** 2).sum(1).mean())
        scale = [spread, np.linalg.norm(np.cov(exact.T, bias=True)), spread]
        np.testing.assert_allclose(found["limit_scale"].sel(layer=layer), scale, rtol=1e-5)
    for layer, states in enumerate(drawn_states(model, dense[1, None], [counts[1], None], first=1), start=1):
        values = found["single_error"].sel(drawn_layer=1, layer=layer, single_n=n, replicate=0)
        exact = dense[layer + 1].double().numpy()
        np.testing.assert_allclose(values, expected(states[0].double().numpy(), exact), rtol=1e-3)


def test_a_layer_drawn_alone_leaves_those_before_it_and_shares_its_draw(errors):
    single = errors["single_error"]
    for drawn in range(LAYERS):
        assert (single.sel(drawn_layer=drawn, layer=slice(0, drawn - 1)) == 0).all() or drawn == 0
        assert (single.sel(drawn_layer=drawn, layer=slice(drawn, None)) > 0).all()
    first = errors["error"].sel(layer=0, n=DRAWS.single_sizes)
    np.testing.assert_array_equal(single.sel(drawn_layer=0, layer=0).values, first.values)


def test_the_dense_model_is_the_limit(model):
    """Errors fall like 1/sqrt(n): from n = 10^4 to 10^8 by a factor of about 100."""
    draws = DRAWS._replace(sizes=[10**4, 10**8], single_sizes=[10**4], replicates=8)
    error = np.sqrt((measure_blocks(model, BLOCKS[:1], NUMBERS[:1], draws, LAYERS)["error"] ** 2).mean("replicate"))
    ratio = error.sel(n=10**4) / error.sel(n=10**8)
    assert (ratio > 30).all() and (ratio < 300).all()


def test_draws_differ_between_blocks_replicates_layers_and_sizes():
    counts = [DRAWS.counts(20, block, layer, n) for block in (0, 1) for layer in (0, 1) for n in (16, 17)]
    rows = np.concatenate(counts)
    assert len(np.unique(rows, axis=0)) == len(rows) == 16
    np.testing.assert_array_equal(DRAWS.counts(20, 1, 1, 17), counts[-1])


def test_many_replicates_are_taken_a_few_at_a_time_and_none_changes(model, errors):
    """Those of a batch of another size are the same but for rounding."""
    more = measure_blocks(model, BLOCKS[:1], NUMBERS[:1], DRAWS._replace(replicates=REPLICATES_AT_ONCE + 1), LAYERS)
    for name in ("error", "single_error"):
        few = errors[name].sel(block=NUMBERS[:1])
        np.testing.assert_allclose(more[name].sel(replicate=[0, 1]), few, rtol=1e-3, atol=1e-6)
    assert (more["error"].sel(replicate=REPLICATES_AT_ONCE) > 0).all()


@pytest.mark.parametrize("parts", [2, 5])
def test_jobs_share_out_the_blocks_and_change_no_bit(model, errors, parts):
    """Also where a job has none."""
    texts = dict(zip(NUMBERS, BLOCKS, strict=True))
    shares = [share(NUMBERS, part, parts) for part in range(parts)]
    cut = [measure_blocks(model, [texts[number] for number in mine], mine, DRAWS, LAYERS) for mine in shares]
    xr.testing.assert_identical(join_parts(cut, "block"), errors)
    assert list(errors["statistic"].values) == list(STATISTICS)


def test_one_block_of_each_article_before_a_second_one():
    lengths, articles = [10, 10, 3, 10, 10, 10], np.array([5, 5, 6, 7, 5, 7])
    block_of_token = np.repeat(np.arange(6), lengths)
    assert chosen_blocks(block_of_token, articles, 2, 8) == [0, 3]
    assert chosen_blocks(block_of_token, articles, 3, 8) == [0, 1, 3]
    assert chosen_blocks(block_of_token, articles, 4, 8) == [0, 1, 3, 5]
    assert chosen_blocks(block_of_token, articles, 99, 8) == [0, 1, 3, 4, 5], "block 2 is too short"
    with pytest.raises(
        ValueError, match=r"^measure_propagation: 0 blocks of at least 11 tokens, .*population, or lower"
    ):
        chosen_blocks(block_of_token, articles, 2, 11)


def test_a_subset_of_keys_is_below_the_block(model):
    draws = DRAWS._replace(sizes=[4, 22], single_sizes=[4], replacement=False)
    with pytest.raises(ValueError, match=r"^sizes: 22 keys of a block of 22 tokens"):
        measure_blocks(model, BLOCKS[:1], NUMBERS[:1], draws, LAYERS)
    kept = measure_blocks(model, BLOCKS[1:2], NUMBERS[1:2], draws, LAYERS)
    assert (kept["error"] > 0).all()
