"""Work in worker processes: what no module has by name goes along, and a death is an error."""

import os
from collections.abc import Iterator, Sequence

import pytest
from attrs import frozen

from desim.errors import UsageError
from desim.jobs.run.executors import WorkerDied
from desim.jobs.run.in_workers import check_jobs, in_workers


def ends(numbers: Sequence[int]) -> Iterator[bytes]:
    """End the process."""
    os._exit(len(numbers))
    yield b""


def test_local_classes_work_in_workers() -> None:
    """As in a notebook; rows come with the number of their chunk, and without workers as well."""

    @frozen
    class Times:
        factor: int

        def __call__(self, numbers: Sequence[int]) -> Iterator[bytes]:
            yield from (b"%d" % (self.factor * number) for number in numbers)

    chunks = [[1, 2], [3], [4, 5]]
    here = dict(in_workers(Times(3), chunks, 1))
    assert here == {0: [b"3", b"6"], 1: [b"9"], 2: [b"12", b"15"]}
    assert dict(in_workers(Times(3), chunks, 2)) == here
    assert dict(in_workers(Times(3), [], 2)) == {}


def test_the_death_of_a_worker_ends_the_work() -> None:
    """Nothing is played again: what is no episode has no failed row."""
    with pytest.raises(WorkerDied, match="a worker process died"):
        list(in_workers(ends, [[1], [2]], 2))


@pytest.mark.parametrize("jobs", [0, True, 1.0, "2"])
def test_a_wrong_number_of_workers_is_refused(jobs: object) -> None:
    """In a sentence."""
    with pytest.raises(UsageError, match="it is a whole number of at least 1"):
        check_jobs(jobs)
