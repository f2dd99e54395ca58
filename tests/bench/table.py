"""A table of what things cost, each beside what it stands against in the same run."""

import os
import time
from contextlib import contextmanager
from statistics import median

from tests.bench.processor import processor_milliseconds


class Table:
    """Measurements by name; every round adds one to each, so that a loaded machine spoils all alike."""

    def __init__(self):
        self.wall, self.processor = {}, {}

    @contextmanager
    def time(self, name, each=1, pids=()):
        """Add what the block takes, in ms, divided by how often it does the thing.

        ``pids`` are the processes that work for this one.
        """
        used, started = processor_milliseconds(pids), time.perf_counter()
        yield
        self.add(name, (time.perf_counter() - started) * 1000 / each)
        if used is not None:
            self.processor.setdefault(name, []).append((processor_milliseconds(pids) - used) / each)

    def add(self, name, milliseconds):
        self.wall.setdefault(name, []).append(milliseconds)

    def __getitem__(self, name):
        return median(self.wall[name])

    def least(self, name):
        """Return the least that the thing ever took, by the clock or of the processor: what was disturbed least."""
        return min(*self.wall[name], *self.processor.get(name, self.wall[name]))

    def lines(self, title, rows):
        """Yield the lines; a row is (name, what it stands against or None, budget)."""
        load = ", ".join(f"{number:.1f}" for number in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
        rounds = max(map(len, self.wall.values()))
        yield f"{title}: milliseconds, medians of up to {rounds} rounds; load {load}; {os.cpu_count()} cores"
        yield f"{'':46} {'wall':>9} {'least':>9} {'processor':>9} {'ratio':>7}  {'to':30} budget"
        for name, other, budget in rows:
            ratio = f"{self[name] / self[other]:.2f}" if other else ""
            processor = f"{median(self.processor[name]):.3f}" if name in self.processor else ""
            yield (
                f"{name:46} {self[name]:9.3f} {min(self.wall[name]):9.3f} {processor:>9} {ratio:>7}  "
                f"{other or '':30} {budget}"
            ).rstrip()
