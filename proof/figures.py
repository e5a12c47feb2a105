"""How many schedules were played, and what was in them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from proof.verdict import Verdict

_TITLES: Final = {
    "deliveries": "deliveries",
    "forced": "runs forced ahead of their time",
    "duplicate at once": "duplicates at once",
    "duplicate late": "late duplicates",
    "jobs": "jobs started",
    "jobs recovered": "jobs started as recovered",
    "takeovers": "takeovers",
    "completed": "runs completed",
    "failed": "runs failed for good",
    "left for a last delivery": "runs that only the last delivery completed",
}


@dataclass(slots=True)
class Figures:
    """The sum of many schedules. `broken` has those that broke a promise."""

    schedules: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        """Add one schedule."""
        self.schedules += 1
        self.seconds += verdict.seconds
        self.counts.update(verdict.counts)
        if verdict.violation is not None:
            self.broken.append(verdict)

    def merge(self, other: "Figures") -> None:
        """Add the schedules of another sum."""
        self.schedules += other.schedules
        self.seconds += other.seconds
        self.counts.update(other.counts)
        self.broken += other.broken

    def lines(self) -> Iterable[str]:
        """Return the figures, a line each."""
        rest = {str(name): count for name, count in self.counts.items()}
        years = self.seconds / (365 * 86_400)
        yield f"{self.schedules:>12,} schedules, of {years:,.1f} years of simulated time"
        for name, title in _TITLES.items():
            if count := rest.pop(name, 0):
                yield f"{count:>12,} {title}"
        answers = {name: rest.pop(name) for name in sorted(rest) if name.startswith("answer ")}
        for name, count in sorted(rest.items()):
            yield f"{count:>12,} fault: {name}"
        for name, count in answers.items():
            yield f"{count:>12,} {name}"
        yield f"{len(self.broken):>12,} promises broken"
