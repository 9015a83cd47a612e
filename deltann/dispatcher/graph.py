"""What is ready, sent and settled of one graph. Pure: no I/O, and no step that costs more than its own edges."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from sys import intern

from deltann.dispatcher.counts import KindCounts
from deltann.job import Done, Job, Plan
from deltann.outcome import Outcome


class GraphState:
    """The state of a graph: built from its plan and done records, then told what happens.

    A job is ready when every job it needs or comes after has ended, and every job it needs gave something usable. Jobs
    of a higher phase are held back while any of a lower phase is ready or sent.

    Args:
        name: of the graph.
        plan: its jobs.
        done: records found at the start, by index.
    """

    def __init__(self, name: str, plan: Plan, done: Mapping[int, Done]) -> None:
        self.name, self.jobs = name, plan.jobs
        # Of every job what is asked again and again: a plan may be too large to keep its jobs as objects.
        self.kinds: list[str] = []
        self.queue_of: list[str] = []
        self._phases: list[int] = []
        self._needs: list[tuple[int, ...]] = []
        self.outcomes: dict[int, Outcome] = {index: record.outcome for index, record in done.items()}
        self.sent: dict[int, float] = {}
        self.sent_per_queue: Counter[str] = Counter()
        self._pending: dict[int, int] = {}
        self._followers: dict[int, list[int]] = defaultdict(list)
        self._ready: dict[str, dict[int, deque[int]]] = defaultdict(lambda: defaultdict(deque))
        self._active: Counter[int] = Counter()
        self._sent_kinds: Counter[str] = Counter()
        self._done_kinds: dict[str, Counter[str]] = defaultdict(Counter)
        self.hurried: set[int] = set()
        """Jobs that were lost once: they do not wait again behind what was sent after them."""
        self.lost: list[tuple[int, int]] = []
        """Jobs that had lost a need before they were known as skipped: (index, because)."""
        for job in plan.jobs:
            self._take_up(job)
        self._totals = Counter(self.kinds)

    @property
    def finished(self) -> bool:
        """Whether every job has ended."""
        return len(self.outcomes) == len(self.jobs)

    def finished_but(self, kind: str) -> bool:
        """Whether every job that is not of this kind has ended."""
        return len(self.outcomes) - self._done_kinds[kind].total() == len(self.jobs) - self._totals[kind]

    def settle(self, index: int, outcome: Outcome) -> list[tuple[int, int]]:
        """Job ``index`` has ended; the jobs that are lost by it, each with the index of the need it lost.

        They are settled as skipped here; the caller writes that down. Nothing happens for a job that has ended before.
        """
        skipped: list[tuple[int, int]] = []
        todo = [(index, outcome)]
        while todo:
            this, end = todo.pop()
            if this in self.outcomes:
                continue
            self.outcomes[this] = end
            self._done_kinds[self.kinds[this]][end] += 1
            phase = self._phases[this]
            if this in self.sent:
                self._forget_sent(this)
                self._active[phase] -= 1
            elif self._pending.get(this) == 0:
                self._ready[self.queue_of[this]][phase].remove(this)
                self._active[phase] -= 1
            self._pending.pop(this, None)
            for other in self._followers.pop(this, ()):
                if other in self.outcomes:
                    continue
                if not end.usable and this in self._needs[other]:
                    skipped.append((other, this))
                    todo.append((other, Outcome.SKIPPED))
                    continue
                self._pending[other] -= 1
                if self._pending[other] == 0:
                    self._make_ready(other)
        return skipped

    def ready(self, queue: str) -> int:
        """How many jobs of a queue could be sent now."""
        return len(self._line(queue))

    def take(self, queue: str, count: int, now: float) -> list[Job]:
        """At most ``count`` ready jobs of a queue, in order, from now on counted as sent."""
        line = self._line(queue)
        taken = [line.popleft() for _ in range(min(count, len(line)))]
        for index in taken:
            self._note_sent(index, now)
        return [self.jobs[index] for index in taken]

    def adopt(self, indices: Iterable[int], now: float) -> None:
        """Those of these jobs that are ready were sent already, by whoever had this graph before."""
        for index in sorted(indices):
            if self._pending.get(index) == 0 and index not in self.sent:
                self._ready[self.queue_of[index]][self._phases[index]].remove(index)
                self._note_sent(index, now)

    def take_back(self, index: int, *, lost: bool = False) -> None:
        """A job that was taken is ready again, before all others; one that was ``lost`` has waited its turn already."""
        if lost:
            self.hurried.add(index)
        self._forget_sent(index)
        self._ready[self.queue_of[index]][self._phases[index]].appendleft(index)

    def queues(self) -> list[str]:
        """The queues that something is ready for."""
        return [queue for queue, phases in self._ready.items() if any(phases.values())]

    def counts(self, running: Mapping[str, int] | None = None) -> dict[str, KindCounts]:
        """Where the jobs are, by kind. ``running`` is how many of the sent ones are leased, by kind."""
        table: dict[str, KindCounts] = {}
        for kind, total in self._totals.items():
            outcomes = self._done_kinds.get(kind, Counter())
            done, sent = outcomes.total(), self._sent_kinds[kind]
            active = min((running or {}).get(kind, 0), sent)
            table[kind] = KindCounts(
                waiting=total - done - sent,
                queued=sent - active,
                running=active,
                done=done,
                outcomes={str(outcome): number for outcome, number in outcomes.items()},
            )
        return table

    def _line(self, queue: str) -> deque[int]:
        """The ready jobs of a queue that are of the lowest phase at work."""
        phases = self._ready.get(queue)
        lowest = min((phase for phase, number in self._active.items() if number > 0), default=None)
        return phases.get(lowest, deque()) if phases and lowest is not None else deque()

    def _take_up(self, job: Job) -> None:
        """Note what a job is and what it waits for. Jobs come in topological order."""
        index, needs = job.index, tuple(job.needs.values())
        self.kinds.append(intern(job.kind))
        self.queue_of.append(intern(job.queue))
        self._phases.append(job.phase)
        self._needs.append(needs)
        if index in self.outcomes:
            self._done_kinds[job.kind][self.outcomes[index]] += 1
            return
        because = self._lost_need(needs)
        if because is not None:
            self.lost += [(index, because), *self.settle(index, Outcome.SKIPPED)]
            return
        waits_for = {other for other in (*needs, *job.after) if other not in self.outcomes}
        self._pending[index] = len(waits_for)
        for other in waits_for:
            self._followers[other].append(index)
        if not waits_for:
            self._make_ready(index)

    def _make_ready(self, index: int) -> None:
        phase = self._phases[index]
        self._ready[self.queue_of[index]][phase].append(index)
        self._active[phase] += 1

    def _note_sent(self, index: int, now: float) -> None:
        self.sent[index] = now
        self.sent_per_queue[self.queue_of[index]] += 1
        self._sent_kinds[self.kinds[index]] += 1

    def _forget_sent(self, index: int) -> None:
        del self.sent[index]
        self.sent_per_queue[self.queue_of[index]] -= 1
        self._sent_kinds[self.kinds[index]] -= 1

    def _lost_need(self, needs: tuple[int, ...]) -> int | None:
        for index in needs:
            outcome = self.outcomes.get(index)
            if outcome is not None and not outcome.usable:
                return index
        return None
