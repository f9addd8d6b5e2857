"""The speed law: the clock-frequency limit that brings the draw under a feeder to its cap.

A job of m nodes computing at speed s draws m (idle + (compute - idle) s^a). The fixed draw is the idle draw of the
computing and all of the others'; the dynamic draw is what the computing add at full speed.
Source: voltage-frequency scaling above the knee, a = 1.5 to 3.7 fits published points of V100, A100 and H100.
"""

EXCESS = 1e-9  # of a cap: a draw less above it is rounding, or the end of an exponential that never ends
_NEWTON_STEPS = 200  # bisection alone halves the bracket to the last digit in 60


def target_speed(fixed_w: float, dynamic_w: float, cap_w: float, exponent: float) -> float:
    """Common speed of the computing jobs, in [0, 1], when all have one power exponent [-].

    Args:
        fixed_w, dynamic_w: fixed and dynamic draw at full speed [W].
        cap_w: limit [W]; inf for none.
    Returns:
        1 if the full-speed draw fits, 0 if the fixed draw alone does not leave room, else the speed that meets the cap.
    """
    if fixed_w + dynamic_w <= cap_w:
        return 1.0
    if fixed_w >= cap_w:
        return 0.0
    return float(((cap_w - fixed_w) / dynamic_w) ** (1.0 / exponent))


def limited_speed(limit_w: float, idle_w: float, compute_w: float, exponent: float) -> float:
    """Speed at which a computing node draws ``limit_w`` [W], in [0, 1].

    Args:
        idle_w, compute_w: draw of the node at speed 0 and at full speed [W].
    """
    if limit_w >= compute_w:
        return 1.0
    if limit_w <= idle_w:
        return 0.0
    return float(((limit_w - idle_w) / (compute_w - idle_w)) ** (1.0 / exponent))


def mixed_target_speed(
    fixed_w: float, dynamic_w: tuple[float, ...], cap_w: float, exponents: tuple[float, ...]
) -> float:
    """The same where profiles differ in their exponent: the root s of sum_p dynamic_p s^a_p = cap - fixed.

    Newton's method kept inside a bracket; the function rises and is convex (every exponent is at least 1), so it ends
    at the last digit.
    """
    total_w = 0.0
    for p in range(len(dynamic_w)):
        total_w += dynamic_w[p]
    if fixed_w + total_w <= cap_w:
        return 1.0
    if fixed_w >= cap_w:
        return 0.0
    low, high, speed = 0.0, 1.0, 1.0
    for _ in range(_NEWTON_STEPS):
        excess_w, slope_w = fixed_w - cap_w, 0.0
        for p in range(len(dynamic_w)):
            excess_w += dynamic_w[p] * speed ** exponents[p]
            slope_w += dynamic_w[p] * exponents[p] * speed ** (exponents[p] - 1.0)
        if excess_w > 0.0:
            high = speed
        else:
            low = speed
        guess = speed - excess_w / slope_w if slope_w > 0.0 else low
        if not low < guess < high:
            guess = 0.5 * (low + high)
        if guess in (speed, low, high):
            return speed
        speed = guess
    return speed


def dynamic_draw_w(dynamic_w: float, speed: float, exponent: float) -> float:
    """What computing jobs of one profile draw above idle at a speed [W]; ``dynamic_w`` is theirs at full speed."""
    return dynamic_w if speed == 1.0 else float(dynamic_w * speed**exponent)
