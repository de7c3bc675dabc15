"""Time left for the remaining jobs: the cost model, corrected by the measured times of finished jobs."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping

TRUST = 60.0  # seconds of expected work, after which measured times weigh as much as the model
MODELLED = 3  # prior weight of the model, in finished jobs of a rule
DAMPING = 0.1  # time constant of the smoothed estimate, as a share of the time left
TARGET = "all"  # a rule without work


class TimeLeft:
    """Of a run with `counts` jobs of each rule, on some cores; `seconds` expects the time of one job of a rule."""

    def __init__(self, counts: Mapping[str, int], seconds: Callable[[str], float], cores: int) -> None:
        self.expected = {rule: seconds(rule) for rule in counts}
        self.to_do, self.done = Counter(counts), Counter[str]()
        self.spent: dict[str, float] = dict.fromkeys(counts, 0.0)
        self.cores = cores
        self.finish = self.now = 0.0  # of the last smoothed estimate: end of the run, time of the estimate

    def finished(self, rule: str, seconds: float) -> None:
        """Count a job, unless its rule was not planned."""
        if rule in self.expected:
            self.to_do[rule] -= 1
            self.done[rule] += 1
            self.spent[rule] += seconds

    def slowness(self) -> float:
        """Measured over expected time of finished jobs; near 1 as long as they are few."""
        expected = sum(count * self.expected[rule] for rule, count in self.done.items())
        return (TRUST + sum(self.spent.values())) / (TRUST + expected)

    def each(self, rule: str) -> float:
        """Of one job: the mean over the finished ones of its rule and some as the model, corrected, expects them."""
        modelled = MODELLED * self.slowness() * self.expected[rule]
        return (self.spent[rule] + modelled) / (self.done[rule] + MODELLED)

    def seconds(self, running: Collection[tuple[str, float]] = ()) -> float:
        """Until all is done: work over cores, or the longest job. running: rule and age of each running job."""
        known = [(self.each(rule), age) for rule, age in running if rule in self.expected]
        begun = [
            each - age if age < each else (age - each) / 2 for each, age in known
        ]  # overdue: it will take longer still
        waiting = self.to_do - Counter(rule for rule, _ in running)
        rest = {rule: self.each(rule) for rule in waiting}
        work = sum(begun) + sum(waiting[rule] * each for rule, each in rest.items())
        return max(work / self.cores, *begun, *rest.values(), 0.0)

    def smoothed(self, now: float, running: Collection[tuple[str, float]] = ()) -> float:
        """The same without jumps: the end of the run follows the estimate, the faster the nearer it is."""
        left = self.seconds(running)
        passed = now - self.now
        weight = passed / (passed + DAMPING * left) if self.finish and left else 1.0
        self.finish += weight * (now + left - self.finish)
        self.now = now
        return max(self.finish - now, 0.0)
