"""Studies with planted rates: heads, texts, their interaction, sampling noise that heads of a layer share."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import PARTS, with_whole_layer
from attnlimit.questions.studies.gather import COMPARED, FIT, SPLITS
from attnlimit.theory.bounds import predictions

HEADS, REPLICATES = 12, 24
SIZES = np.array([64, 128, 256])


def planted(
    layers=6,
    texts=5,
    heads=0.04,
    of_layers=0.02,
    shifts=0.0,
    moved=0.0,
    moved_layers=0.0,
    noise=0.01,
    shared=0.3,
    seed=0,
):
    """True rates (text, layer, head), and seen ones: standard deviations of each effect, shared: correlation of noise.

    shifts: of the texts, all heads alike, from -shifts to +shifts.
    """
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal
    own = of_layers * normal((layers, 1)) + heads * normal((layers, HEADS))
    shift = shifts * np.linspace(-1, 1, texts)[:, None, None] if texts > 1 else np.zeros((1, 1, 1))
    moving = moved_layers * normal((texts, layers, 1)) + moved * normal((texts, layers, HEADS))
    true = 0.5 + own + shift + moving

    def sampled(factor=1.0):
        common, alone = normal((texts, layers, 1)), normal((texts, layers, HEADS))
        return true + factor * noise * (np.sqrt(shared) * common + np.sqrt(1 - shared) * alone)

    halves = np.stack([np.stack([sampled(np.sqrt(2)) for _ in range(2)], 1) for _ in range(1)], 1)  # (text, 1, 2, …)
    return true, halves.mean((1, 2)), halves


def study(beta, halves, horizon, tilt, noise=0.01, name="small", digest="a" * 64, text="text", seed=0, rho=0.5):
    """A gathered store: beta (layer, head) for both statistics, halves (1, 2, layer, head); errors correlate by rho."""
    rng = np.random.default_rng(seed)
    layers, heads = beta.shape
    coords = {"layer": range(layers), "statistic": COMPARED, "part": list(PARTS), "head": range(heads), "n": SIZES}
    data = xr.Dataset(coords=coords | {"head_2": range(heads)})
    shape = (layers, len(COMPARED), len(PARTS), heads)
    every = np.broadcast_to(beta[:, None, None], shape)
    for fit, shift in (("beta", 0), ("beta_low", -2 * noise), ("beta_high", 2 * noise)):
        data[fit] = (("layer", "statistic", "part", "head"), every + shift)
    for mark in ("misfit", "saturated", "limit_uncertain"):
        data[mark] = (("layer", "statistic", "part", "head"), np.zeros(shape, bool))
    data["relative_error"] = data["beta"] * 0 + 0.1
    for tokens in (fit for fit in FIT if fit.startswith("tokens")):
        value = np.array(False if tokens.endswith("extrapolated") else 900.0)
        data[tokens] = (("layer", "statistic", "head"), np.broadcast_to(value, (layers, len(COMPARED), heads)))
    numbers = {"horizon": horizon, "psi": horizon**2, "constant_tilt": tilt, "sub_gaussian": np.full(beta.shape, 1.2)}
    numbers["bound_v3"] = predictions(horizon, horizon**2)["bound_v3"]
    for label, values in numbers.items():
        data[label] = (("layer", "head"), values)
    data["participation_ratio"] = ("layer", np.full(layers, 50.0))
    data["kurtosis"] = (("layer", "head", "direction"), np.zeros((layers, heads, 4)))
    data = data.assign_coords(direction=range(4))
    covariance = noise**2 * (0.3 + 0.7 * np.eye(heads))
    data["beta_covariance"] = (
        ("layer", "statistic", "head", "head_2"),
        np.broadcast_to(covariance, (layers, 2, heads, heads)),
    )
    repeated = np.broadcast_to(halves[0][None, :, :, None], (SPLITS, 2, layers, len(COMPARED), heads))
    data["beta_half"] = (("split", "half", "layer", "statistic", "head"), repeated)
    common = rng.standard_normal((layers, 2, 1, REPLICATES, len(SIZES), 8))
    alone = rng.standard_normal((layers, 2, heads, REPLICATES, len(SIZES), 8))
    squares = ((np.sqrt(rho) * common + np.sqrt(1 - rho) * alone) ** 2).sum(-1)
    labels = with_whole_layer(heads)
    marks = {name: array for name, array in data.items() if array.dtype == bool}
    data = data.reindex(head=labels)
    data = data.assign({name: array.reindex(head=labels, fill_value=False) for name, array in marks.items()})
    both = np.concatenate([squares, squares.sum(2, keepdims=True)], axis=2)  # last the whole layer
    data["error"] = (("layer", "statistic", "head", "replicate", "n"), np.sqrt(both))
    attrs = {"model": {"name": f"owner/{name}", "sha256": {"model.safetensors": digest, "config.json": "b"}}}
    return data.assign_attrs(attrs | {"corpus": {"name": text}, "population": 5000, "replicates": REPLICATES})


def studies(texts=3, layers=6, name="small", digest="a" * 64, slope=0.0, seed=0, **effects) -> dict[str, xr.Dataset]:
    """Studies of one model; slope: how beta goes with ln H, which is the same on all texts but for 5 %."""
    rng = np.random.default_rng(100 + seed)
    true, seen, halves = planted(layers, texts, seed=seed, **effects)
    horizon = np.exp(rng.uniform(-1, 1, true.shape[1:]))
    made = {}
    for number in range(texts):
        own = horizon * np.exp(0.05 * rng.standard_normal(horizon.shape))
        bent = slope * np.log(horizon)
        tilt = np.exp(rng.uniform(-1, 0.5, horizon.shape))
        options = {"noise": effects.get("noise", 0.01), "name": name, "digest": digest, "seed": seed + number}
        made[f"{name}-{number}"] = study(
            seen[number] + bent, halves[number] + bent, own, tilt, text=f"text {number}", **options
        )
    return made
