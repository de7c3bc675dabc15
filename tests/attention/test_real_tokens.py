"""The kernel on real heads and real text, layer by layer, and the two protocols of sampling."""

import numpy as np
import pytest
from tokenizers import Tokenizer

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads, nested_moments, output_shift, project
from attnlimit.base.coordinates import STATISTICS
from attnlimit.sampling.errors import replicate_errors
from attnlimit.sources.corpus.blocks import cut, fill, prepare, word_pieces
from attnlimit.sources.corpus.dump import excerpt_path, read_dump
from attnlimit.sources.model.bert import heads_dataset, layer_inputs, load
from attnlimit.sources.model.files import embedded_folder
from attnlimit.sources.model.population import atoms
from support import dense

SIZES = [64, 424, 1318]


@pytest.fixture(scope="module")
def real():
    """Inputs of all layers (layer, token, feature) for a few blocks of the first article, and the heads."""
    tokenizer = Tokenizer.from_file(str(embedded_folder() / "tokenizer.json"))
    marks = prepare(tokenizer)
    pieces = word_pieces([next(read_dump(excerpt_path(), 10**8)).text], tokenizer)
    blocks = np.split(fill(cut(np.array([3 * 510]), 512), pieces, marks), 3)
    model = load(embedded_folder())
    return np.concatenate(list(layer_inputs(model, blocks)), axis=1), heads_dataset(model), blocks


@pytest.mark.parametrize("layer", range(6))
def test_every_layer_is_exact_to_2e_6(real, layer):
    tokens, heads = real[0][layer], Heads.of(real[1].sel(layer=layer))
    rows = np.random.default_rng(layer).integers(len(tokens), size=SIZES[-1])
    centre = tokens[:512].mean(0, dtype=np.float64)
    sample = project(tokens[rows], heads, centre, "cpu", "float32")
    for size, found in zip(SIZES, nested_moments(sample, SIZES), strict=True):
        mean, covariance = dense.moments(tokens[rows[:size]], heads)
        assert dense.relative(found.mean + output_shift(heads, centre), mean) < 2e-6
        assert dense.relative(found.covariance, covariance) < 2e-6


def test_equal_words_at_equal_positions_are_one_atom_of_layer_0(real):
    tokens, _, blocks = real
    ids, positions = np.concatenate(blocks), np.concatenate([np.arange(len(block)) for block in blocks])
    numbers, counts = atoms(ids, positions, layer=0)
    assert counts.max() > 1
    for number in numbers[counts > 1]:
        equal = (ids == ids[number]) & (positions == positions[number])
        assert (tokens[0][equal] == tokens[0][number]).all()


def test_nested_and_independent_draws_have_the_same_mean_error():
    """At every n the two protocols have one law; only the errors across n are tied together in the nested one."""
    rng = np.random.default_rng(0)
    heads, tokens = dense.random_heads(rng, heads=2, width=3, feature=5, scale=0.6), rng.normal(size=(300, 5))
    limit_mean, limit_covariance = dense.moments(tokens, heads)
    pool, shift = project(tokens, heads, np.zeros(5), "cpu", "float64"), output_shift(heads, np.zeros(5))
    sizes, replicates = [16, 64, 96], 400

    def errors(nested):
        plans = [draws(300, sizes, nested, True, 1, 0, replicate) for replicate in range(replicates)]
        samples = ((m for rows, served in plan for m in nested_moments(pool.take(rows), served)) for plan in plans)
        found = replicate_errors(samples, limit_mean - shift, limit_covariance, heads=2, group=replicates)
        return dict(zip(STATISTICS, found["error"], strict=True))  # (head + 1, replicate, n) each

    nested, independent = errors(True), errors(False)
    for name in ("mean", "cov"):
        difference = nested[name].mean(1) - independent[name].mean(1)  # (head + 1, n)
        se = np.sqrt((nested[name].var(1) + independent[name].var(1)) / replicates)
        assert (np.abs(difference) < 4 * se).all()
        tied, free = (np.corrcoef(errors[name][-1].T)[1, 2] for errors in (nested, independent))
        assert tied > 0.4
        assert abs(free) < 0.2
