"""Whether a GPU gives what the CPU gives in float64, and how fast: `make gpu-check`."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch

from attnlimit.attention.kernel import Heads, choose_device, nested_moments, output_shift, project
from attnlimit.attention.streaming import Atoms, Pass, limit_blocks
from attnlimit.base.parts import cuts
from attnlimit.base.seeds import generator
from attnlimit.sampling.errors import distances, replicate_errors
from attnlimit.theory.moments import Moments, merge_all
from attnlimit.workflow.amounts import table

LARGEST_DEVIATION = 2e-6  # what float32 keeps on the CPU, see tests/attention/test_kernel.py
MEAN = 5  # of tokens, in units of their spread: as large as that of real ones
NO_GPU = 2  # exit status


class Layer(NamedTuple):
    """A layer of drawn weights, and how many tokens it is tried with."""

    name: str
    heads: int
    width: int
    sizes: list[int]  # of samples: not multiples of 32, which is a tile of the GPU's
    atoms: int  # of the limit
    block: int  # of the limit
    replicates: int


LAYERS = [
    Layer("BERT-base, 12 heads of 64", 12, 64, [500, 1001, 2001], 4001, 1024, 2),
    Layer("MiniLM, 12 heads of 32", 12, 32, [500, 1001, 2001], 4001, 1024, 2),
    Layer("one head of 50", 1, 50, [1000, 3000, 7001], 7001, 2048, 2),  # padded: not a multiple of 8
]


class Row(NamedTuple):
    """One line of the table: a quantity on the device, in one precision, against the CPU in float64."""

    layer: str
    quantity: str
    dtype: str
    deviation: float
    cpu_seconds: float
    seconds: float


class Drawn(NamedTuple):
    """What both devices get."""

    heads: Heads
    tokens: np.ndarray  # (atom, feature)
    counts: np.ndarray  # (atom,)
    samples: np.ndarray  # (replicate, token): rows of tokens

    @property
    def centre(self) -> np.ndarray:
        return self.tokens.mean(0, dtype=np.float64)

    def moved_back(self, moments: Moments) -> Moments:
        return moments._replace(mean=moments.mean + output_shift(self.heads, self.centre))


def draw(layer: Layer) -> Drawn:
    """Weights with which scores have a standard deviation of about 1."""
    rng, features = generator(0, "gpu_check"), layer.heads * layer.width
    shapes = [(layer.heads, layer.width, features)] * 3 + [(layer.heads, layer.width)] * 2
    weights = [rng.standard_normal(shape, dtype=np.float32) * np.float32(features**-0.5) for shape in shapes]
    weights[0] /= MEAN  # of queries
    tokens = MEAN + rng.standard_normal((layer.atoms, features), dtype=np.float32)
    samples = rng.integers(layer.atoms, size=(layer.replicates, layer.sizes[-1]))
    return Drawn(Heads(*weights), tokens, rng.integers(1, 5, size=layer.atoms), samples)


def nested(drawn: Drawn, sizes: list[int], device: str, dtype: str) -> Iterator[list[Moments]]:
    """Moments of each sample at each size, as measure_errors has them."""
    pool = project(drawn.tokens, drawn.heads, drawn.centre, device, dtype)
    for rows in drawn.samples:
        yield list(map(drawn.moved_back, nested_moments(pool.take(torch.as_tensor(rows, device=device)), sizes)))


def limit(drawn: Drawn, block: int, device: str, dtype: str) -> Moments:
    """As compute_limits has it."""
    atoms = Atoms(lambda cut: drawn.tokens[cut], drawn.counts)
    how = Pass(drawn.heads, drawn.centre, block, device, dtype)
    parts = limit_blocks(atoms, atoms, cuts(len(drawn.counts), block), how)
    return drawn.moved_back(merge_all(moments for moments, _ in parts))


def quantities(layer: Layer, drawn: Drawn) -> dict[str, tuple[Callable, Callable]]:
    """What is compared, a function of device and dtype, and how."""

    def kernel(device, dtype):
        return [part for moments in next(nested(drawn, layer.sizes, device, dtype)) for part in mean_and_cov(moments)]

    def whole_limit(device, dtype):
        return list(mean_and_cov(limit(drawn, layer.block, device, dtype)))

    def errors(device, dtype):
        """log(error + norm of the limit), whose differences are relative ones: an error is a distance of two moments,
        and no rounding of theirs is small beside a small distance."""
        mean, covariance = mean_and_cov(limit(drawn, layer.block, device, dtype))
        samples = nested(drawn, layer.sizes, device, dtype)
        found = replicate_errors(samples, mean, covariance, layer.heads, group=1)["error"]
        scale = np.stack(list(distances(mean, covariance, layer.heads).values()))  # (statistic, head + 1)
        return [np.log(found + scale[..., None, None])]

    return {"kernel": (kernel, in_norm), "limit": (whole_limit, in_norm), "errors": (errors, at_worst)}


def in_norm(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def at_worst(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(found - exact).max())


def mean_and_cov(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    return moments.mean, moments.covariance


def compare(layer: Layer, device: str) -> Iterator[Row]:
    """The device in float32 and float64 against the CPU in float64; a first call, not timed, wakes a GPU up."""
    drawn = draw(layer)
    for name, (quantity, distance) in quantities(layer, drawn).items():
        exact, cpu_seconds = timed(quantity, "cpu", "float64")
        for dtype in ("float32", "float64"):
            quantity(device, dtype)
            found, seconds = timed(quantity, device, dtype)
            yield Row(layer.name, name, dtype, max(map(distance, found, exact)), cpu_seconds, seconds)


def timed(quantity: Callable, device: str, dtype: str) -> tuple[list[np.ndarray], float]:
    """All results are numpy arrays, so a GPU has finished when they are there."""
    start = time.perf_counter()
    return quantity(device, dtype), time.perf_counter() - start


def table_of(rows: list[Row], device: str) -> str:
    head = [*Row._fields[:4], "CPU float64, s", f"{device}, s", "times faster", ""]
    lines = [
        [
            *row[:3],
            f"{row.deviation:.1e}",
            f"{row.cpu_seconds:.3f}",
            f"{row.seconds:.3f}",
            f"{row.cpu_seconds / row.seconds:.1f}",
            "" if is_near(row) else "TOO FAR",
        ]
        for row in rows
    ]
    return table(head, *lines)


def is_near(row: Row) -> bool:
    return row.deviation <= LARGEST_DEVIATION


def report(layers: list[Layer], device: str) -> str | None:
    """Print the table; what is wrong, in one line, if something is."""
    rows = [row for layer in layers for row in compare(layer, device)]
    print(table_of(rows, device))
    far = [row for row in rows if not is_near(row)]
    if not far:
        return None
    worst = max(far, key=lambda row: row.deviation)
    return (
        f"gpu-check: {len(far)} of {len(rows)} rows deviate by more than {LARGEST_DEVIATION:.0e}, {worst.quantity} of "
        f"{worst.layer} in {worst.dtype} by {worst.deviation:.1e}: set device: cpu, and report this table"
    )


def main() -> None:
    if not torch.cuda.is_available():
        print(f"gpu-check: torch {torch.__version__} sees no CUDA GPU here; nothing was checked", file=sys.stderr)
        sys.exit(NO_GPU)
    device = choose_device("cuda")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {torch.get_num_threads()} threads of the CPU")
    sys.exit(report(LAYERS, device))


if __name__ == "__main__":
    main()
