"""Follow 20,000 epidemics from their first case to their last, one infection or recovery a step.

    python examples/epidemic.py

Gillespie's exact method (1977) for the SIR model. Every epidemic has its own number of events.
"""

import matplotlib.pyplot as plt
import numpy as np

import eagle
import hawk
from hawk import Index, Mutable, Param, Scalar, Terminated
from hawk.math import random

PEOPLE = 1000


@hawk.kernel
def event(
    contacts: Scalar, seed: Param[Index], people: Param[Index],
    healthy: Mutable[Index], ill: Mutable[Index], days: Mutable[Scalar], over: Terminated,
):  # fmt: skip
    infections = contacts * healthy * ill / people  # a day, of people ill for a day on average
    total = infections + ill
    draw = 2 * hawk.step_index()
    days += random.exponential(seed, draw) / total
    if random.uniform(seed, draw + 1) * total < infections:
        healthy, ill = healthy - 1, ill + 1
    else:
        ill -= 1
    over = ill == 0


def main() -> None:
    n = 20_000
    contacts = np.repeat([0.8, 1.2, 1.6, 2.5], n // 4)
    start = {"healthy": np.full(n, PEOPLE - 1), "ill": np.ones(n, np.int64), "days": np.zeros(n)}
    result = eagle.simulate(
        event, max_steps=2 * PEOPLE, contacts=contacts, seed=7, people=PEOPLE, **start
    )
    print(result)
    caught = PEOPLE - result.healthy
    for rate in np.unique(contacts):
        large = (caught[contacts == rate] > PEOPLE / 10).mean()
        print(f"{rate} contacts a day: {large:.0%} of the epidemics become large")
    fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for rate in np.unique(contacts):
        ended = caught[contacts == rate]
        ax.hist(ended, np.arange(0, PEOPLE + 25, 25), histtype="step", label=f"{rate} a day")
    ax.set(yscale="log", xlabel=f"people who caught it, of {PEOPLE}", ylabel="epidemics")
    ax.legend(title="contacts")
    plt.show()


if __name__ == "__main__":
    main()
