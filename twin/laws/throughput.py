"""The store's law: total write rate by the weight present."""


def store_rate_b_s(weight: float, bandwidth_b_s: float, client_b_s: float, degradation: float) -> float:
    """F(W) = min(W c, B) / (1 + k max(0, W c / B - 1)) [B/s]; 0 for an idle store.

    Args:
        weight: W, the weight present [-].
        bandwidth_b_s: B.
        client_b_s: c, rate of one unit of weight alone; 0 for no client limit, then F is the constant B.
        degradation: k [-], rate lost to crowding beyond saturation.
    Source: saturation near one writer per storage target, as vendors measure it; k = 0 is the clean case.
    """
    if weight <= 0.0:
        return 0.0
    if client_b_s == 0.0:
        return bandwidth_b_s
    asked_b_s = weight * client_b_s
    crowding = asked_b_s / bandwidth_b_s - 1.0
    served_b_s = asked_b_s if asked_b_s < bandwidth_b_s else bandwidth_b_s
    if crowding > 0.0:
        return served_b_s / (1.0 + degradation * crowding)
    return served_b_s
