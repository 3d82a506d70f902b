"""Spin bodies about their middle axis until they flip over, and see how soon they do.

    python examples/tumbling.py

Euler's equations and the attitude as a quaternion, Runge-Kutta steps. The smaller the push, the
later the flip: the time grows with its logarithm.
"""

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Quat, Scalar, Terminated, Vector
from hawk.math import cross, quat_mul, quat_rotate, vec

INERTIA = (1.0, 2.0, 3.0)


@hawk.kernel
def tumble(
    inertia: Param[Vector[3]], dt: Param,
    q: Mutable[Quat], w: Mutable[Vector[3]], t: Mutable[Scalar], flipped: Terminated,
):  # fmt: skip
    def rates(q, w):
        spin = vec(w[0], w[1], w[2], 0.0)
        return 0.5 * quat_mul(q, spin), -cross(w, inertia * w) / inertia

    q1, w1 = rates(q, w)
    q2, w2 = rates(q + 0.5 * dt * q1, w + 0.5 * dt * w1)
    q3, w3 = rates(q + 0.5 * dt * q2, w + 0.5 * dt * w2)
    q4, w4 = rates(q + dt * q3, w + dt * w3)
    q += dt / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
    w += dt / 6 * (w1 + 2 * w2 + 2 * w3 + w4)
    t += dt
    flipped = quat_rotate(q, vec(0.0, 1.0, 0.0))[1] < 0.0


def main() -> None:
    n = 2000
    push = np.geomspace(1e-12, 1e-1, n)
    q, w = np.zeros((4, n)), np.zeros((3, n))
    q[3], w[1], w[0] = 1.0, 1.0, push
    result = eagle.simulate(
        tumble, max_steps=100_000, inertia=INERTIA, dt=0.01, q=q, w=w, t=np.zeros(n)
    )
    print(result)
    energy = np.einsum("in,i,in->n", result.w, INERTIA, result.w)
    print(f"energy kept to {abs(energy / (2 + push**2) - 1).max():.1e}")
    t = result.t
    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(push, t)
    ax.set(xscale="log", xlabel="push about another axis", ylabel="time until it flips, 1 / spin")
    plt.show()


if __name__ == "__main__":
    main()
