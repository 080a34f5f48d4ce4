"""Golden integer model of target `lava`: docs/targets/lava_arithmetic.md once more, in plain numpy integers.

Written from that page alone and sharing no code with the process models (nothing but numpy is imported),
so that a slip in either shows as a difference. Every function takes integer arrays of dtype int64, or of
dtype object, whose entries are Python integers without a width; a test holds one against the other.
"""

import numpy as np

SIXTH_BITS = 24
SIXTH = 2796203  # round(2^24 / 6)


def shift(x, bits, mode):
    """x / 2^bits as an integer, rounded by `mode` ("nearest", "floor", "toward_zero"); exact for bits <= 0.

    >>> [int(shift(np.array(-5), 1, mode)) for mode in ("nearest", "floor", "toward_zero")]
    [-2, -3, -2]
    """
    if bits <= 0:
        return x * 2**-bits
    if bits > 62:
        raise ValueError(f"a shift by {bits} bits was given; expected at most 62, which fit into 64 bits")
    if mode == "nearest":
        return (x + 2 ** (bits - 1)) // 2**bits
    if mode == "floor":
        return x // 2**bits
    if mode == "toward_zero":
        return np.where(x < 0, -(-x // 2**bits), x // 2**bits)
    raise ValueError(f"rounding {mode!r} was given; expected nearest, floor or toward_zero")


def half(k):
    """k / 2 for a stage of Runge-Kutta: to the nearest in every mode, halves up."""
    return shift(k, 1, "nearest")


def sixth(k1, k2, k3, k4):
    """(k1 + 2 k2 + 2 k3 + k4) / 6 by one product with 2^24 / 6 and one shift."""
    return shift((k1 + 2 * (k2 + k3) + k4) * SIXTH, SIXTH_BITS, "nearest")


def stacked(motion, steps):
    """The first `steps` states of a motion, stacked: name -> (steps, ...)."""
    history = [next(motion) for _ in range(steps)]
    return {name: np.stack([state[name] for state in history]) for name in history[0]}


class Golden:
    """The numbers of one format: P, B, Q, M, the steps per turn, the rounding mode and the interpolation.

    >>> g = Golden(phase_bits=8, sine_bits=4, payload_bits=4, parameter_bits=6, steps_per_turn=8,
    ...            rounding="nearest", interpolation="linear")
    >>> g.table.tolist()[:5], g.sine(np.array([64, 192, 8, -8])).tolist()
    ([0, 3, 5, 6, 7], [7, -7, 2, -1])
    """

    def __init__(
        self, phase_bits, sine_bits, payload_bits, parameter_bits, steps_per_turn, rounding, interpolation
    ):
        if steps_per_turn < 1 or steps_per_turn & (steps_per_turn - 1):
            raise ValueError(f"{steps_per_turn} steps per turn were given; expected a power of two")
        if interpolation not in ("linear", "nearest"):
            raise ValueError(f"interpolation {interpolation!r} was given; expected linear or nearest")
        self.turn = 2**phase_bits
        self.quarter = 2 ** (phase_bits - 2)
        self.entry_bits = phase_bits - sine_bits
        self.sine_shift = payload_bits - 1
        self.amplitude = 2 ** (payload_bits - 1) - 1
        step_bits = int(steps_per_turn).bit_length() - 1
        self.rate_shift = parameter_bits + payload_bits - 1 - (phase_bits - step_bits)
        self.rounding = rounding
        self.interpolation = interpolation
        turns = np.arange(2**sine_bits + 1) / 2**sine_bits
        self.table = np.rint(self.amplitude * np.sin(2 * np.pi * turns)).astype(np.int64)

    def sine(self, phase):
        """The table's sine of any integer phase, negative ones included."""
        inside = phase % self.turn
        if self.interpolation == "nearest":
            return self.table[shift(inside, self.entry_bits, "nearest").astype(np.int64)]
        entry = (inside // 2**self.entry_bits).astype(np.int64)
        fraction = inside % 2**self.entry_bits
        below = self.table[entry]
        return below + shift((self.table[entry + 1] - below) * fraction, self.entry_bits, self.rounding)

    def cosine(self, phase):
        """The sine a quarter of a turn later."""
        return self.sine(phase + self.quarter)

    def rate(self, phase, mismatch, coupling):
        """What a cell moves by in a step if its rate stays as it is at this phase."""
        product = mismatch * self.amplitude - coupling * self.sine(phase)
        return shift(product, self.rate_shift, self.rounding)

    def cell_step(self, psi, mismatch, coupling, integrator):
        """The phases of cells one integration step later."""
        k1 = self.rate(psi, mismatch, coupling)
        if integrator == "euler":
            return (psi + k1) % self.turn
        if integrator != "runge_kutta":
            raise ValueError(f"integrator {integrator!r} was given; expected runge_kutta or euler")
        k2 = self.rate(psi + half(k1), mismatch, coupling)
        k3 = self.rate(psi + half(k2), mismatch, coupling)
        k4 = self.rate(psi + k3, mismatch, coupling)
        return (psi + sixth(k1, k2, k3, k4)) % self.turn

    def signed(self, difference):
        """A difference of phases as the representative in [-turn/2, turn/2)."""
        return (difference + self.turn // 2) % self.turn - self.turn // 2

    def cells(self, psi, mismatch, coupling, steps, integrator):
        """What cells keep, after each time step, for ever: name -> (cells,).

        The caller takes as many time steps as the run has; :func:`stacked` makes one array of each.
        """
        psi = psi % self.turn
        none = 0 * psi
        state = {"phase": psi, "increment": none, "cosine_sum": self.cosine(psi), "sine_sum": self.sine(psi)}
        for which in ("first", "last"):
            crossing = ("step", "before", "after", "cosine_sum", "sine_sum")
            state |= {f"{which}_{name}": none - (name == "step") for name in crossing}
        number = 0
        while True:
            state = self._recorded(state, mismatch, coupling, number, number < steps, integrator)
            yield state
            number += 1

    def _recorded(self, old, mismatch, coupling, number, alive, integrator):
        """The record of cells after integration step `number`; cells not `alive` keep theirs."""
        before, after = old["phase"], self.cell_step(old["phase"], mismatch, coupling, integrator)
        new = {
            "phase": after,
            "increment": self.signed(after - before),
            "cosine_sum": old["cosine_sum"] + self.cosine(after),
            "sine_sum": old["sine_sum"] + self.sine(after),
        }
        crossed = (self.cosine(before) > 0) & (self.cosine(after) <= 0)
        seen = {
            "step": number + 0 * before,
            "before": before,
            "after": after,
            "cosine_sum": old["cosine_sum"],
            "sine_sum": old["sine_sum"],
        }
        for name, value in seen.items():
            new[f"last_{name}"] = np.where(crossed, value, old[f"last_{name}"])
            unseen = crossed & (old["first_step"] < 0)
            new[f"first_{name}"] = np.where(unseen, value, old[f"first_{name}"])
        return {name: np.where(alive, value, old[name]) for name, value in new.items()}

    def network(self, theta, drift, gain, gain_shift, weights, integrator, delayed):
        """What oscillators show after each time step, for ever: name -> (oscillators,).

        `weights` is the integer matrix (oscillators, oscillators), a column per sender; `delayed` asks for
        one step of delay.
        """
        if integrator not in ("runge_kutta", "euler") or (delayed and integrator != "euler"):
            raise ValueError(
                f"integrator {integrator!r} with delayed={delayed} was given; "
                "expected runge_kutta without delay, or euler with or without"
            )

        def slope_of(own, received):
            sums = [weights @ payload for payload in received]
            torque = shift(own[0] * sums[1] - own[1] * sums[0], self.sine_shift, self.rounding)
            return sums, drift + shift(gain * torque, gain_shift, self.rounding)

        moves = self._delayed if delayed else self._euler if integrator == "euler" else self._runge_kutta
        names = ("theta", "cosine", "sine", "cosine_sum", "sine_sum", "slope")
        for row in moves(theta % self.turn, slope_of):
            yield dict(zip(names, row, strict=True))

    def _phasor(self, phase):
        return self.cosine(phase), self.sine(phase)

    def _runge_kutta(self, theta, slope_of):
        """Sends once; then four time steps for each integration step, each of which sends its stage."""
        own, none = self._phasor(theta), 0 * theta
        yield theta, *own, none, none, none
        while True:
            stages = []
            for stage in range(4):
                sums, slope = slope_of(own, own)
                stages.append(slope)
                if stage == 3:
                    theta = (theta + sixth(*stages)) % self.turn
                phase = (theta + half(slope), theta + half(slope), theta + slope, theta)[stage]
                own = self._phasor(phase)
                yield theta, *own, *sums, slope

    def _euler(self, theta, slope_of):
        """Sends once; then every time step moves by what was sent last, and sends the new phasors."""
        own, none = self._phasor(theta), 0 * theta
        yield theta, *own, none, none, none
        while True:
            sums, slope = slope_of(own, own)
            theta = (theta + slope) % self.turn
            own = self._phasor(theta)
            yield theta, *own, *sums, slope

    def _delayed(self, theta, slope_of):
        """Every time step sends the present phasors and moves by those of one step ago (first: none)."""
        received = (0 * theta, 0 * theta)
        while True:
            own = self._phasor(theta)
            sums, slope = slope_of(own, received)
            theta = (theta + slope) % self.turn
            yield theta, *own, *sums, slope
            received = own
