from eagle import gpu_available, xp_for

DEVICE = "gpu" if gpu_available() else "cpu"
xp = xp_for(DEVICE)
print("running on", DEVICE)

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Terminated

@hawk.kernel(steps=1)
def oscillator_k1(omega: Scalar, t_end: Param, dt: Param, terminated: Terminated,
                  x: Mutable[Scalar], v: Mutable[Scalar], t: Mutable[Scalar]):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end

@hawk.kernel(steps=16)
def oscillator_k16(omega: Scalar, t_end: Param, dt: Param, terminated: Terminated,
                   x: Mutable[Scalar], v: Mutable[Scalar], t: Mutable[Scalar]):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end

@hawk.kernel(steps="auto")
def oscillator_auto(omega: Scalar, t_end: Param, dt: Param, terminated: Terminated,
                    x: Mutable[Scalar], v: Mutable[Scalar], t: Mutable[Scalar]):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end

n = 1_000_000 if DEVICE == "gpu" else 100_000
omega = xp.linspace(1.0, 3.0, n)
reports = {}
for name, kernel in [("k=1", oscillator_k1), ("k=16", oscillator_k16),
                     ("auto", oscillator_auto)]:
    reports[name] = eagle.run_until_done(
        eagle.deploy(kernel), max_steps=10_000,
        x=xp.ones(n), v=xp.zeros(n), t=xp.zeros(n),
        omega=omega, t_end=1.0, dt=1e-3)
    r = reports[name]
    print(f"{name:>5}: {r.launches:4d} launches, {r.steps:5d} steps, "
          f"exact_steps={r.exact_steps}")

import matplotlib.pyplot as plt

by_k = reports["auto"].launches_by_k
fig, ax = plt.subplots(figsize=(5, 3.2))
ks = sorted(by_k)
ax.bar([str(k) for k in ks], [by_k[k] for k in ks], color="C2")
ax.set_xlabel("steps in that launch (k)")
ax.set_ylabel("number of launches")
ax.set_title("steps=\"auto\": launches by k -- on the machine that built this page")
fig.tight_layout()
plt.show()

import eagle.exec as eexec

part = eexec.Partition(0, n, n)
bytes_per_sample = 3 * 8  # oscillator's state: x, v, t -- three float64 per sample
tiles = eexec.HostTeam.tile_count(part, bytes_per_sample)
print(f"{tiles} tiles for {n:,} samples -- about {-(-n // tiles):,} samples per tile")
