"""The time left: right under exact costs, led by what jobs really take, never wild."""

import itertools

import pytest

from attnlimit.cli.time_left import TimeLeft

COSTS = {"short": 4.0, "middle": 20.0, "long": 90.0}
COUNTS = {"short": 30, "middle": 12, "long": 4}


def run(left: TimeLeft, factor: float, cores: int):
    """Play a run whose jobs take `factor` times their cost: at each second, now and running jobs; none at its end."""
    queue = [rule for rule, count in COUNTS.items() for _ in range(count)]
    work: list[tuple[str, float]] = []  # rule, start
    for now in itertools.count():
        for rule, start in [job for job in work if now - job[1] >= factor * COSTS[job[0]]]:
            work.remove((rule, start))
            left.finished(rule, now - start)
        while queue and len(work) < cores:
            work.append((queue.pop(0), float(now)))
        yield float(now), [(rule, now - start) for rule, start in work]
        if not work:
            return


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_under_exact_costs_it_falls_second_by_second_to_nothing(cores):
    left = TimeLeft(COUNTS, COSTS.__getitem__, cores)
    estimates = [(now, left.seconds(work), left.smoothed(now, work)) for now, work in run(left, 1, cores)]
    end = estimates[-1][0]
    assert estimates[-1][1:] == (0, 0)
    for (_, before, smoothed_before), (_, after, told) in itertools.pairwise(estimates):
        assert after <= before and told <= smoothed_before
    for now, estimate, _ in estimates:
        assert end - now - 90 <= estimate <= end - now, "a core may stand idle while the last long job runs"
    if cores == 1:
        assert all(estimate == pytest.approx(end - now) for now, estimate, _ in estimates)


@pytest.mark.parametrize("factor", [0.5, 3])
def test_a_machine_of_another_speed_is_found_out(factor):
    left = TimeLeft(COUNTS, COSTS.__getitem__, 1)
    told = [(now, left.smoothed(now, work)) for now, work in run(left, factor, 1)]
    end = told[-1][0]
    for now, seconds in told:
        if now > end / 2:
            assert seconds == pytest.approx(end - now, rel=0.3, abs=10)
    assert told[-1][1] == 0


def test_what_is_told_does_not_jump_when_one_job_is_far_off():
    left = TimeLeft({"short": 200}, COSTS.__getitem__, 1)
    assert left.smoothed(1000) == pytest.approx(800)
    left.finished("short", 100)
    jump = left.seconds()
    assert jump > 2000
    assert left.smoothed(1001) < 820, "a second later"
    for now in range(1002, 1002 + round(jump)):
        later = left.smoothed(now)
    assert later == pytest.approx(jump, rel=0.12), "if it stays so, it is told"


def test_a_rule_is_known_by_its_own_jobs():
    """The model errs in one rule by ten, in the other not at all."""
    left = TimeLeft({"middle": 50, "short": 50}, COSTS.__getitem__, 1)
    for _ in range(25):
        left.finished("middle", 200)
        left.finished("short", 4)
    assert left.seconds() == pytest.approx(25 * 200 + 25 * 4, rel=0.1)


def test_no_jobs_no_time_and_rules_that_nobody_planned():
    left = TimeLeft({}, COSTS.__getitem__, 2)
    assert left.seconds() == left.smoothed(5.0) == 0
    left.finished("unheard of", 7)
    assert left.seconds([("unheard of", 3.0)]) == 0
    free = TimeLeft({"nothing": 3}, lambda rule: 0.0, 1)
    assert free.seconds([("nothing", 0.0)]) == free.smoothed(0.0) == 0


def test_a_job_that_is_late_is_expected_to_be_later():
    left = TimeLeft({"middle": 1}, COSTS.__getitem__, 1)
    assert left.seconds([("middle", 15.0)]) == 5
    assert 0 < left.seconds([("middle", 30.0)]) < left.seconds([("middle", 300.0)])


def test_one_job_is_not_spread_over_cores():
    assert TimeLeft({"long": 1, "short": 1}, COSTS.__getitem__, 8).seconds() == 90
    assert TimeLeft({"long": 8, "short": 2}, COSTS.__getitem__, 4).seconds() == 182
