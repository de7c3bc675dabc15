"""Runs of neighbouring tokens: every token equally likely, nested whole runs, one article where asked, bad input."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads, nested_moments, project
from attnlimit.base.seeds import generator
from attnlimit.questions.contexts.measure import (
    Run,
    Text,
    join_runs,
    repeated_share,
    require_runs,
    runs_at,
    sample,
)
from attnlimit.sampling.joining import join_parts

BLOCKS = [12, 512, 5, 397, 64, 512]
ARTICLES = [7, 3, 3, 7, 9, 1]


def text(blocks=BLOCKS, articles=ARTICLES) -> Text:
    block_of_token = np.repeat(np.arange(len(blocks)), blocks)
    return Text.of(xr.Dataset({"block_of_token": ("token", block_of_token), "page_id": ("block", articles)}))


@pytest.mark.parametrize("length", [1, 2, 3, 16, 64, 100, 256, 512])
def test_every_token_is_equally_likely_whatever_the_blocks(length):
    """By enumeration: each of the N equally likely tokens picks its run, and every token occurs in g runs of N."""
    where = text()
    tokens = np.arange(sum(BLOCKS))
    runs = runs_at(tokens, length, where)
    assert (np.bincount(runs.ravel(), minlength=len(tokens)) == length).all()
    assert (where.block[runs] == where.block[tokens][:, None]).all()  # within one block


def test_uniform_starts_without_the_circle_would_have_a_bias():
    """What the circle is for: a run of 3 in a block of 4 has two places, which hold the inner tokens twice."""
    plain = np.array([[0, 1, 2], [1, 2, 3]])
    assert np.bincount(plain.ravel()).tolist() == [1, 2, 2, 1]
    circular = np.unique(runs_at(np.arange(4), 3, text([4], [1])), axis=0)
    assert np.bincount(circular.ravel()).tolist() == [3, 3, 3, 3]


def test_tokens_of_a_run_are_consecutive_and_do_not_wrap_where_it_divides_the_block():
    """Else one that passes the end of a block goes on at its beginning."""
    full = runs_at(np.arange(512), 64, text([512], [1]))
    assert (np.diff(full) == 1).all() and set(full[:, 0]) == set(range(0, 512, 64))
    wrapped = runs_at(np.array([9]), 4, text([10], [1]))
    assert wrapped.tolist() == [[8, 9, 0, 1]]


def test_runs_of_one_are_the_plain_draw():
    """The same estimator as in measure_errors: independent tokens, uniform over the population."""
    where, population = text(), sum(BLOCKS)
    rows = sample(Run.of(1, 64), 256, where, 5, 2, 3)
    (plain, _), *_ = draws(population, [256], True, True, 5, 2, 3, "measure_contexts 1")
    assert rows.tolist() == plain.tolist()


def test_samples_are_nested_whole_runs_from_streams_of_their_own():
    where = text()
    run = Run.of(16, 64)
    rows, shorter = (sample(run, size, where, 1, 0, 0) for size in (256, 64))
    assert rows[:64].tolist() == shorter.tolist()
    assert all(len(set(where.block[rows[start : start + 16]])) == 1 for start in range(0, 256, 16))
    assert rows.tolist() != sample(run, 256, where, 1, 0, 1).tolist()
    assert run.sizes([4, 8, 16, 64]) == [16, 64]  # below a run there is no sample


def test_a_document_sample_is_of_one_article_and_articles_count_by_their_tokens():
    where = text()
    article_of = where.article[where.block]
    samples = [sample(Run.of("document", 4), 8, where, 1, 0, replicate) for replicate in range(600)]
    articles = [set(article_of[rows]) for rows in samples]
    assert all(len(each) == 1 for each in articles)
    drawn = np.array([each.pop() for each in articles])
    for article in set(ARTICLES):
        expected = (article_of == article).mean()
        assert abs((drawn == article).mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / 600)


def test_without_attention_the_error_of_runs_is_that_of_their_design():
    """A = 0: the mean of the outputs is the sample mean. Tokens are constant over pieces of 8: a run of 4 is one value.

    The mean squared error of m independent tiles is the variance of tile means over m, exactly: 4 times that of
    independent tokens.
    """
    stream = generator(3, "pieces")
    tokens = np.repeat(stream.normal(size=(64, 2)), 8, axis=0)  # (token, feature)
    where, zero, one = text([512], [1]), np.zeros((1, 2, 2)), np.eye(2)[None]
    heads = Heads(zero, one, one, np.zeros((1, 2)), np.zeros((1, 2)))
    pool = project(tokens, heads, tokens.mean(0), "cpu", "float64")
    squares = {}
    for length in (1, 4):
        samples = [sample(Run.of(length, 4), 64, where, 1, 0, replicate) for replicate in range(400)]
        means = [next(nested_moments(pool.take(rows), [64])).mean for rows in samples]
        squares[length] = np.sum(np.square(means), axis=1)  # (replicate,)
    variance = tokens.var(0).sum()
    for length, found in squares.items():
        assert abs(found.mean() - variance * length / 64) < 4 * found.std() / 20
    assert squares[4].mean() > 3 * squares[1].mean()


def test_runs_that_the_text_does_not_have_are_refused():
    short = text([20, 30, 25], [1, 2, 3])
    require_runs([Run.of(16, 8)], short)
    with pytest.raises(
        ValueError, match=r"^config: measure_contexts\.runs: 64 tokens, .* the longest of 30; take shorter"
    ):
        require_runs([Run.of(64, 8)], short)
    with pytest.raises(ValueError, match=r"^config: measure_contexts\.runs: document, but the text is one article"):
        require_runs([Run.of("document", 8)], text([20, 30], [4, 4]))
    assert repeated_share(Run.of(25, 8), short) == pytest.approx(20 / 75)


def test_joined_runs_have_nan_below_their_length_and_layers_keep_what_is_said_of_runs():
    runs, where = [Run.of(1, 8), Run.of(32, 8)], text()

    def errors(sizes):
        error = ("statistic", "head", "replicate", "n"), np.ones((1, 1, 2, len(sizes)))
        rest = {
            "limit_scale": (("statistic", "head"), [[2.0]]),
            "mean_difference": (("n", "feature"), np.ones((len(sizes), 3))),
        }
        return xr.Dataset({"error": error} | rest, coords={"n": sizes})

    layer = join_runs(runs, [errors([16, 32, 64]), errors([32, 64])], where)
    assert np.isnan(layer["error"].sel(run="32", n=16)).all() and (layer["error"].sel(run="32", n=32) == 1).all()
    assert layer["limit_scale"].dims == ("statistic", "head") and "mean_difference" not in layer
    shared = ["run_length", "repeated_share"]
    both = join_parts([layer.assign_coords(layer=0), layer.assign_coords(layer=3)], "layer", shared)
    assert both["error"].sizes["layer"] == 2 and both["run_length"].dims == ("run",)
