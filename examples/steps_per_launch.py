"""Run one batch with three numbers of steps per launch, and draw how many launches each took.

    python examples/steps_per_launch.py

The kernel is written once; `kernel.step` and `hawk.steps(kernel, 16)` are the same kernel with
other launches. All three end in the same bits.
"""

import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Terminated


@hawk.kernel(steps="auto")
def oscillator(
    omega: Scalar,
    t_end: Param,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    x, v = x + dt * v, v - dt * omega * omega * x
    t += dt
    terminated = t >= t_end


def main() -> None:
    n = 100_000
    ways = {"k=1": oscillator.step, "k=16": hawk.steps(oscillator, 16), "auto": oscillator}
    reports = {}
    for name, kernel in ways.items():
        reports[name] = eagle.run_until_done(
            eagle.deploy(kernel),
            max_steps=10_000,
            omega=np.linspace(1.0, 3.0, n),
            x=np.ones(n),
            v=np.zeros(n),
            t=np.zeros(n),
            t_end=1.0,
            dt=1e-3,
        )
        print(f"{name:>5}: {reports[name]}")
    draw(reports)


def draw(reports: dict[str, eagle.RunReport]) -> None:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("for the picture: pip install matplotlib")
        return
    fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for name, report in reports.items():
        for k, count in report.launches_by_k.items():
            bar = ax.bar(str(k), count, label=name)
            ax.bar_label(bar, [f"{name}: {count}"])
    ax.set_yscale("log")
    ax.set_xlabel("steps in that launch (k)")
    ax.set_ylabel("number of launches")
    plt.show()


if __name__ == "__main__":
    main()
