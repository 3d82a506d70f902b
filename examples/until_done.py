"""Drop a thousand balls from different heights, and let each of them stop where it lands.

    python examples/until_done.py

Every ball takes its own number of steps. No ball waits for the highest one, and none goes on below
the ground.
"""

import numpy as np

import eagle
import hawk
from hawk import Index, Mutable, Param, Scalar, Terminated


@hawk.kernel
def fall(
    drag: Scalar,
    dt: Param,
    landed: Terminated,
    height: Mutable[Scalar],
    speed: Mutable[Scalar],
    count: Mutable[Index] = 0,
    g: Param = 9.81,
):
    speed += dt * (g - drag * speed * speed)
    height -= dt * speed
    count += 1
    landed = height <= 0.0


def main() -> None:
    n = 1000
    result = eagle.simulate(
        fall,
        max_steps=100_000,
        drag=np.linspace(0.0, 0.05, n),
        height=np.geomspace(0.1, 1000.0, n),
        speed=np.zeros(n),
        dt=1e-3,
    )
    print(result)
    steps = result.count
    print(f"the first ball landed after {steps.min():,} steps, the last after {steps.max():,}")
    print(f"the fastest hit the ground at {result.speed.max():.1f} m/s")


if __name__ == "__main__":
    main()
