"""What the retry budget accepts survives a crash at any moment; a refusal says why (R31)."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.backoff import RetryConfig, next_gap, retry_starts
from app.retry_budget import MARGIN, NoBudget, Times, retry_config, retry_window, takeover, warning

USUAL = Times(attempt_deadline=180, request_timeout=180, lease=60, interval=900)
TIGHT = replace(USUAL, interval=300)

fractions = st.floats(0.0, 1.0)


@st.composite
def times(draw: st.DrawFn) -> Times:
    """Times as the settings allow them; the interval is about what they need."""
    deadline = draw(st.integers(15, 1800) | st.integers(15, 86_415))
    timeout = draw(st.just(deadline) | st.integers(1, 2 * deadline))
    lease, settle = draw(st.integers(5, 3600)), draw(st.sampled_from([0, 30]))
    need = 2 * deadline + timeout + lease + settle
    interval = 60 * draw(st.integers(1, math.ceil(need / 60) + 5))
    return Times(deadline, timeout, lease, interval, settle)


def accepted(these: Times) -> RetryConfig | None:
    try:
        return retry_config(these)
    except NoBudget:
        return None


def simulated_start(
    these: Times, config: RetryConfig, crashed: float, failed: float, delay: float, renewed: float
) -> float | None:
    """Play Cloud Scheduler after a crash; return when a retry takes the run over.

    Every retry comes `delay` seconds late and, while the lease is alive, is answered at once. The
    last renewal reached the store `renewed` seconds after the crash.
    """
    lease_end = crashed + renewed + these.lease + these.settle
    now = failed
    for retry in itertools.count(1):
        gap = next_gap(config, retry, now)
        if gap is None or now + gap + delay >= these.interval:
            return None
        now += gap + delay
        if now > lease_end:
            return now
    raise AssertionError


def number_before(text: str, words: str) -> int:
    return int(text.split(words)[0].split()[-1])


def number_after(text: str, words: str) -> int:
    return int(text.split(words)[1].split()[0])


class TestEveryAcceptedBudget:
    @given(times(), fractions, fractions, fractions, fractions)
    @example(TIGHT, 1.0, 1.0, 1.0, 1.0)
    def test_recovers_a_crash_at_any_moment(
        self, these: Times, moment: float, notice: float, delay: float, renewal: float
    ) -> None:
        """R28, R31: whenever the first attempt dies, and whenever Cloud Scheduler learns of it."""
        config = accepted(these)
        assume(config is not None)
        assert config is not None
        crashed = moment * these.request_timeout
        deadline = these.attempt_deadline
        failed = crashed + notice * (deadline - crashed) if crashed < deadline else deadline
        # Neither a renewal under way nor the retries' delays use the margin up.
        late, renewed = delay * 0.9 * MARGIN / config.retry_count, renewal * 0.9 * MARGIN
        assert simulated_start(these, config, crashed, failed, late, renewed) is not None

    @given(times(), fractions, fractions)
    def test_without_a_warning_recovers_an_attempt_that_fails_unseen(
        self, these: Times, broken: float, delay: float
    ) -> None:
        """R31: its connection broke early, it ends at its time limit, and an attempt still fits."""
        config = accepted(these)
        assume(config is not None and not warning(these))
        assert config is not None
        failed = broken * min(these.request_timeout, these.attempt_deadline)
        late = delay * 0.9 * MARGIN / config.retry_count
        start = simulated_start(these, config, these.request_timeout, failed, late, 0.0)
        assert start is not None
        if not broken:
            assert start + these.attempt_deadline <= these.interval

    @given(times())
    def test_is_one_that_cloud_scheduler_takes(self, these: Times) -> None:
        """R31: whole seconds, one to five retries."""
        config = accepted(these)
        assume(config is not None)
        assert config is not None
        assert 1 <= config.retry_count <= 5
        assert 1 <= config.min_backoff == int(config.min_backoff)
        assert config.max_backoff == int(config.max_backoff)

    @given(times())
    def test_ends_before_the_records_do(self, these: Times) -> None:
        """R29: also where every attempt takes all its time."""
        config = accepted(these)
        assume(config is not None)
        assert config is not None
        *_, last = retry_starts(config, these.attempt_deadline)
        assert last + these.attempt_deadline <= retry_window(
            attempt_deadline=these.attempt_deadline,
            request_timeout=these.request_timeout,
            lease=these.lease,
        )


class TestEveryRefusedBudget:
    @given(times(), st.integers(1, 5), st.integers(0, 5000), st.integers(1, 16))
    def test_has_no_retries_that_would_do(
        self, these: Times, count: int, more: int, doublings: int
    ) -> None:
        """R31: no settings of the job save a run whose crash shows at the deadline.

        Where attempts end sooner than that, one setting could do for all moments; it is refused
        for being too close.
        """
        assume(accepted(these) is None and these.request_timeout >= these.attempt_deadline)
        hurried = replace(these, interval=these.interval - MARGIN)
        crashed, failed = these.request_timeout, these.attempt_deadline
        first = 1 + abs(these.after_crash - more)
        config = RetryConfig(count, first, 1_000_000, doublings)
        assert simulated_start(hurried, config, crashed, failed, 0.0, MARGIN) is None

    @given(times())
    def test_is_accepted_with_the_schedule_that_it_asks_for(self, these: Times) -> None:
        """R31."""
        try:
            retry_config(these)
        except NoBudget as refusal:
            interval = number_before(str(refusal), " s between runs")
            assert accepted(replace(these, interval=interval)) is not None
            assert accepted(replace(these, interval=interval - 1)) is None


class TestRefusal:
    def test_names_every_setting_that_helps_by_itself(self) -> None:
        """R31."""
        with pytest.raises(NoBudget) as refused:
            retry_config(replace(USUAL, interval=240))
        lease = number_after(str(refused.value), "(`lease`) of ")
        deadline = number_after(str(refused.value), "(`attempt_deadline`) of ")
        assert (lease, deadline) == (50, 170)
        for change in (0, 1):
            shorter = replace(USUAL, interval=240, lease=lease + change)
            quicker = replace(
                USUAL,
                interval=240,
                attempt_deadline=deadline + change,
                request_timeout=deadline + change,
            )
            assert [accepted(shorter) is None, accepted(quicker) is None] == [bool(change)] * 2

    def test_offers_no_lease_and_no_deadline_that_is_too_short(self) -> None:
        """R18, R32."""
        with pytest.raises(NoBudget, match=r"Use both a shorter .* or a SCHEDULE .* with 250 s"):
            retry_config(replace(USUAL, interval=60))


class TestWarning:
    def test_is_none_where_a_lost_connection_is_made_good(self) -> None:
        """R31."""
        assert warning(replace(USUAL, interval=430)) == ""

    def test_names_the_settings_that_help(self) -> None:
        """R31."""
        text = warning(TIGHT)
        deadline = number_after(text, "(`attempt_deadline`) of ")
        assert (deadline, number_before(text, " s between runs")) == (115, 430)
        assert not warning(replace(TIGHT, attempt_deadline=115, request_timeout=115))
        assert warning(replace(TIGHT, attempt_deadline=116, request_timeout=116))


class TestFormula:
    @pytest.mark.parametrize(
        ("these", "config"),
        [
            (USUAL, RetryConfig(5, 8, 128)),
            (TIGHT, RetryConfig(5, 3, 48)),
            (replace(USUAL, interval=250), RetryConfig(1, 65, 65)),
            (Times(15, 15, 5, 60), RetryConfig(5, 1, 16)),
            (Times(1800, 1800, 60, 86_400), RetryConfig(5, 61, 976)),
            (Times(86_400, 86_400, 60, 604_800), RetryConfig(5, 2790, 44_640)),
            (replace(USUAL, settle=30), RetryConfig(5, 9, 144)),
        ],
    )
    def test_gives_five_doubling_retries_or_as_many_as_fit(
        self, these: Times, config: RetryConfig
    ) -> None:
        """R31."""
        assert retry_config(these) == config

    def test_reaches_past_the_time_limit_and_the_lease(self) -> None:
        """R31: 8, 24, 56, 120 and 248 s, where 245 s are needed."""
        assert list(retry_starts(retry_config(USUAL))) == [8, 24, 56, 120, 248]


class TestTakeover:
    def test_is_by_the_first_retry_after_the_lease(self) -> None:
        """R28."""
        found = takeover(USUAL, retry_config(USUAL), crashed=0, failed=0)
        assert found is not None
        assert (found.claimable, found.retry, found.start) == (60, 4, 120)

    def test_counts_the_back_off_from_the_failure(self) -> None:
        """R31."""
        found = takeover(USUAL, retry_config(USUAL), crashed=10, failed=180)
        assert found is not None
        assert (found.claimable, found.retry, found.start) == (70, 1, 188)

    def test_does_not_come_after_the_next_scheduled_time(self) -> None:
        """R31."""
        assert takeover(TIGHT, RetryConfig(5, 300), crashed=0, failed=0) is None

    def test_does_not_come_where_the_retries_end_before_the_lease(self) -> None:
        """R31: five 409s, then nothing."""
        assert takeover(USUAL, RetryConfig(5, 1), crashed=0, failed=0) is None
