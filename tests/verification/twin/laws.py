"""The window laws of `tcp`."""

import math
from typing import Any

from twin.law import RECOVERY, Law, Report
from twin.real import ln, root


class StopAndWait(Law):
    """One segment, always."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.cwnd = self.m


class SlowStart(Law):
    """Laws with the slow start of RFC 5681, section 3.1, and then congestion avoidance."""

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.ssthresh = math.inf

    def grow(self, acknowledged: int) -> None:
        if self.cwnd < self.ssthresh:
            # Equation 2.
            self.cwnd += min(float(acknowledged), self.m)
        else:
            self.avoid()

    def avoid(self) -> None:
        """Grow in congestion avoidance: by default as in equation 3."""
        self.cwnd += self.m * self.m / self.cwnd

    def timeout(self, flight: int, repeated: bool) -> None:
        self.restart(float(flight) / 2, repeated)


class ByteCounting(SlowStart):
    """Slow start by bytes, of RFC 3465, and ABE, of RFC 8511, where they are on."""

    #: Factors on the window after a loss and, with ABE, after an echo.
    usual = (0.0, 0.0)

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        #: L of RFC 3465, if bytes are counted.
        self.most: float | None = None
        if "byte_counting" in self.settings:
            self.most = self.settings["byte_counting"] * self.m
        self.timed_out = False
        loss, mark = self.usual
        loss = float(self.settings.get("beta", loss))
        self.factor, self.after_mark = loss, loss
        if self.settings.get("abe", False):
            self.after_mark = float(self.settings.get("beta_ecn", mark))

    def grow(self, acknowledged: int) -> None:
        if self.cwnd >= self.ssthresh:
            self.timed_out = False
        if self.most is None or self.cwnd >= self.ssthresh:
            super().grow(acknowledged)
        else:
            self.cwnd += min(float(acknowledged), self.m if self.timed_out else self.most)

    def mark(self, flight: int) -> None:
        usual, self.factor = self.factor, self.after_mark
        self.loss(flight)
        self.factor = usual


class Reno(ByteCounting):
    """RFC 5681, section 3.1."""

    usual = (0.5, 0.8)

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.halves_flight: bool = self.settings["halving"] == "flight-size"
        #: The bytes counted.
        self.counted = 0.0

    def grow(self, acknowledged: int) -> None:
        self.acknowledged = acknowledged
        super().grow(acknowledged)

    def avoid(self) -> None:
        if self.most is None:
            super().avoid()
        else:
            self.counted += self.acknowledged
            if self.counted >= self.cwnd:
                self.counted -= self.cwnd
                self.cwnd += self.m

    def loss(self, flight: int) -> None:
        self.counted, self.timed_out = 0.0, False
        half = self.halve(flight)
        self.cwnd = self.ssthresh if self.halves_flight else half

    def timeout(self, flight: int, repeated: bool) -> None:
        self.counted, self.timed_out = 0.0, True
        if not (self.halves_flight and repeated):
            self.halve(flight)
        self.cwnd = self.m

    def halve(self, flight: int) -> float:
        """Set the threshold; returns half of the window, or its share after an echo."""
        half = min(self.cwnd, self.advertised) * self.factor
        if self.halves_flight:
            self.lower_threshold(float(flight) * self.factor)
        else:
            # ns-2: its threshold is a whole number of segments.
            self.ssthresh = max(math.floor(half / self.m), 2) * self.m
        return half


class HighSpeed(SlowStart):
    """RFC 3649, section 5."""

    def avoid(self) -> None:
        w = math.floor(self.cwnd / self.m)
        self.cwnd += self.increase(w) * self.m * self.m / self.cwnd

    def loss(self, flight: int) -> None:
        b = self.decrease(math.floor(self.cwnd / self.m))
        self.lower_threshold((1.0 - b) * self.cwnd)
        self.cwnd = self.ssthresh

    def decrease(self, w: int) -> float:
        """b(w)."""
        if w <= 38:
            return 0.5
        share = (ln(float(w)) - ln(38.0)) / (ln(83_000.0) - ln(38.0))
        return max((0.1 - 0.5) * share + 0.5, 0.01)

    def increase(self, w: int) -> float:
        """a(w)."""
        b = self.decrease(w)
        return 0.078 * (w / root(float(w), 5)) * 2.0 * b / (2.0 - b) if w > 38 else 1.0


class Cubic(ByteCounting):
    """RFC 9438; `epoch` holds its beginning (ps), the plateau, K and the window of Reno."""

    usual = (0.7, 0.85)

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.plateau = 0.0
        self.prior = 0.0
        self.smoothed: float | None = None
        self.epoch: tuple[int, float, float, float] | None = None
        self.before: tuple[float, float, tuple[int, float, float, float] | None] = (0.0, 0.0, None)

    def grow(self, acknowledged: int) -> None:
        if self.rtt is not None:
            r = float(self.rtt)
            self.smoothed = r if self.smoothed is None else 0.875 * self.smoothed + 0.125 * r
        self.acknowledged = acknowledged
        super().grow(acknowledged)

    def avoid(self) -> None:
        w = self.cwnd / self.m
        if self.epoch is None:
            self.epoch = self.now, *self.shape(w), w
        start, plateau, k, reno = self.epoch
        beta, c = self.settings["beta"], self.settings["c"]
        alpha = 1.0 if reno >= self.prior else 3.0 * (1.0 - beta) / (1.0 + beta)
        reno += alpha * (float(self.acknowledged) / self.m) / w
        self.epoch = start, plateau, k, reno
        t = float(self.now - start) / 1e12
        if self.settings["reno_friendly"] and c * (t - k) * (t - k) * (t - k) + plateau < reno:
            self.cwnd = max(self.cwnd, reno * self.m)
            return
        late = t + (self.smoothed or 0.0) / 1e12 - k
        target = min(max(c * late * late * late + plateau, w), 1.5 * w)
        self.cwnd += (target - w) / w * self.m

    def shape(self, w: float) -> tuple[float, float]:
        """Plateau and K of a stage that begins with `w` segments."""
        if w < self.plateau:
            return self.plateau, root((self.plateau - w) / self.settings["c"], 3)
        return w, 0.0

    def loss(self, flight: int) -> None:
        self.before = self.plateau, self.prior, self.epoch
        self.timed_out = False
        w, beta = self.cwnd / self.m, self.settings["beta"]
        converges = self.settings["fast_convergence"] and w < self.plateau
        self.plateau = w * (1.0 + beta) / 2.0 if converges else w
        self.prior, self.epoch = w, None
        self.lower_threshold(self.reduced(flight))
        self.cwnd = self.ssthresh

    def spurious(self) -> None:
        self.plateau, self.prior, self.epoch = self.before

    def timeout(self, flight: int, repeated: bool) -> None:
        self.plateau, self.prior, self.epoch = 0.0, self.cwnd / self.m, None
        self.timed_out = True
        self.restart(self.reduced(flight), repeated)

    def reduced(self, flight: int) -> float:
        """The window after a loss."""
        before = self.cwnd if self.settings["reduces"] == "window" else float(flight)
        return self.factor * before


class Scalable(SlowStart):
    """Kelly 2003."""

    @property
    def is_small(self) -> bool:
        """Whether standard TCP is used."""
        return self.cwnd <= float(self.settings["legacy_window"]) * self.m

    def avoid(self) -> None:
        if self.is_small:
            super().avoid()
        else:
            self.cwnd += float(self.settings["increase"]) * self.m

    def loss(self, flight: int) -> None:
        share = 0.5 if self.is_small else float(self.settings["decrease"])
        self.lower_threshold((1.0 - share) * self.cwnd)
        self.cwnd = self.ssthresh


class Rounds:
    """Counts acknowledged bytes, and detects the end of a round trip."""

    def __init__(self) -> None:
        self.acknowledged = self.end = 0

    def ends(self, acknowledged: int, flight: int) -> bool:
        """Whether data is acknowledged that was sent in this round trip."""
        self.acknowledged += acknowledged
        if self.acknowledged <= self.end:
            return False
        self.end = self.acknowledged + flight
        return True


class Fast(SlowStart):
    """FAST TCP, Wei et al. 2006."""

    reports = True

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.rounds = Rounds()
        self.number = 0
        self.shortest = math.inf
        self.average: float | None = None

    def grow(self, acknowledged: int) -> None:
        pass

    def report(self, report: Report) -> None:
        w = self.cwnd / self.m
        if self.rtt is not None:
            r, eta = float(self.rtt), min(3.0 / w, 0.25)
            self.shortest = min(self.shortest, r)
            self.average = r if self.average is None else (1.0 - eta) * self.average + eta * r
        ends = self.rounds.ends(report.acknowledged, report.flight)
        self.number += ends
        if report.phase == RECOVERY or self.average is None:
            return
        if self.average - self.shortest < self.settings["mi_threshold_ps"]:
            self.ssthresh = math.inf
            self.cwnd += min(float(report.acknowledged), self.m)
            return
        self.ssthresh = 0.0
        if ends and self.number % 2:
            self.cwnd = max(self.next(w, self.shortest / self.average * w), 2.0) * self.m

    def next(self, w: float, kept: float) -> float:
        """Equation 6, unless between alpha and beta segments wait."""
        alpha, beta, gamma = (float(self.settings[key]) for key in ("alpha", "beta", "gamma"))
        if alpha <= w - kept < beta:
            return w
        return min(2.0 * w, (1.0 - gamma) * w + gamma * (kept + alpha))

    def loss(self, flight: int) -> None:
        self.cwnd = max(self.cwnd / 2.0, 2 * self.m)

    def timeout(self, flight: int, repeated: bool) -> None:
        self.cwnd = self.m


class Vegas(SlowStart):
    """Brakmo and Peterson 1995, with the details of ns-2."""

    reports = True

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.rounds = Rounds()
        self.shortest = math.inf
        self.samples: list[float] = []
        self.doubles = False

    def grow(self, acknowledged: int) -> None:
        if self.cwnd < self.ssthresh and self.doubles:
            super().grow(acknowledged)

    def report(self, report: Report) -> None:
        if self.rtt is not None:
            self.shortest = min(self.shortest, float(self.rtt))
            self.samples.append(float(self.rtt))
        if not self.rounds.ends(report.acknowledged, report.flight) or not self.samples:
            return
        total = 0.0
        for sample in self.samples:
            total += sample
        mean, self.samples = total / float(len(self.samples)), []
        if report.phase != RECOVERY:
            self.round(mean)

    def round(self, rtt: float) -> None:
        """Move the window at the end of a round trip."""
        waiting = self.cwnd / self.m * (1.0 - self.shortest / rtt)
        if self.cwnd < self.ssthresh:
            self.doubles = not self.doubles
            if self.doubles and waiting > self.settings["gamma"]:
                self.ssthresh = 2 * self.m
                self.cwnd = max(self.cwnd - self.cwnd / 8.0, 2 * self.m)
        elif waiting > self.settings["beta"]:
            self.cwnd = max(self.cwnd - self.m, 2 * self.m)
        elif waiting < self.settings["alpha"]:
            self.cwnd += self.m

    def loss(self, flight: int) -> None:
        self.ssthresh = 2 * self.m
        self.cwnd = max(0.75 * self.cwnd, 2 * self.m)


class Dctcp(SlowStart):
    """RFC 8257, section 3.3."""

    reports = True

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.rounds = Rounds()
        self.alpha = 1.0
        self.acknowledged = self.marked = self.answered = 0

    def grow(self, acknowledged: int) -> None:
        if not self.echo:
            super().grow(acknowledged)

    def report(self, report: Report) -> None:
        self.acknowledged += report.acknowledged
        if self.marks is None:
            self.marked += report.acknowledged * self.echo
        else:
            self.marked += self.marks * int(self.m)
        if self.rounds.ends(report.acknowledged, report.flight):
            g = float(self.settings["g"])
            share = float(min(self.marked, self.acknowledged)) / float(self.acknowledged)
            self.alpha = self.alpha * (1.0 - g) + g * share
            self.acknowledged = self.marked = 0
        una = self.rounds.acknowledged
        if self.echo and una > self.answered and report.phase != RECOVERY:
            self.answered = una + report.flight
            self.lower_threshold(self.cwnd * (1.0 - self.alpha / 2.0))
            self.cwnd = self.ssthresh

    def loss(self, flight: int) -> None:
        self.answered = self.rounds.acknowledged + flight
        self.lower_threshold(float(flight) / 2)
        self.cwnd = self.ssthresh


class HyStartPlusPlus(SlowStart):
    """RFC 9406, to be mixed into a law with slow start; times in ps."""

    reports = True

    def __init__(self, transport: dict[str, Any], m: int) -> None:
        super().__init__(transport, m)
        self.rule: dict[str, Any] = self.settings["slow_start"]
        paced = transport["recovery"].get("pacing", False)
        self.most_counted = self.rule.get("limit", math.inf if paced else 8) * self.m
        self.first = True
        self.trips = Rounds()
        #: The round trips of this round, the least of the last one, and of the one in which the
        #: conservative slow start began, with the rounds completed since then.
        self.round: list[int] = []
        self.last: int | None = None
        self.baseline: int | None = None
        self.completed = 0

    @property
    def applies(self) -> bool:
        """Whether this is the first slow start."""
        return self.first and self.ssthresh == math.inf

    def grow(self, acknowledged: int) -> None:
        before, applies = self.cwnd, self.applies
        super().grow(acknowledged)
        if applies and self.cwnd > before:
            growth = min(float(acknowledged), self.most_counted)
            slower = 1.0 if self.baseline is None else float(self.rule["css_growth_divisor"])
            self.cwnd = before + growth / slower

    def report(self, report: Report) -> None:
        super().report(report)
        if not self.applies:
            return
        if self.trips.ends(report.acknowledged, report.flight):
            self.last, self.round = min(self.round, default=None), []
            if self.baseline is not None:
                self.completed += 1
                if self.completed >= self.rule["css_rounds"]:
                    self.ssthresh, self.first = self.cwnd, False
                    return
        if self.rtt is not None:
            self.round.append(self.rtt)
            if len(self.round) >= self.rule["n_rtt_sample"]:
                self.judge(min(self.round))

    def judge(self, least: int) -> None:
        """Begin or give up the conservative slow start, by the least round trip of this round."""
        if self.baseline is not None:
            if least < self.baseline:
                self.baseline = None
        elif self.last is not None:
            share = self.last // self.rule["min_rtt_divisor"]
            rise = min(share, self.rule["max_rtt_thresh_ps"])
            if least - self.last >= max(rise, self.rule["min_rtt_thresh_ps"]):
                self.baseline, self.completed = least, 0

    def loss(self, flight: int) -> None:
        self.first = False
        super().loss(flight)

    def timeout(self, flight: int, repeated: bool) -> None:
        self.first = False
        super().timeout(flight, repeated)
