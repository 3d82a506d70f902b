import numpy as np
import cupy as cp
import eagle
import hawk
from hawk import Mutable, UInt32, Vector

n = 5

@hawk.kernel
def propagate(state: Mutable[Vector[6]], flags: UInt32 = 0):
    turn = 0.5 if flags == 0 else -0.5
    state[0] += turn * state[3]
    state[3] -= turn * state[0]

@hawk.kernel
def sample(state: Vector[6]) -> Vector[3]:
    return hawk.math.vec(state[0], state[1], state[3])

@hawk.kernel
def check_events(probe: Vector[3]) -> UInt32:
    return hawk.uint32(1) if probe[0] > 1.5 else hawk.uint32(0)

# a step on one side, a look at some of its numbers on the other, and one more step
@eagle.Graph.builder
def propagate_with_events(state, h_probe, h_flags, flags):
    g = eagle.Graph()
    state = propagate(state)                    # where `state` lives
    probe = sample(state)                       # an array of the graph's own
    eagle.copy(probe, into=h_probe)             # home
    check_events(h_probe, buffer=h_flags)       # on the host
    eagle.copy(h_flags, into=flags)             # and back
    g.result = propagate(state, flags)
    return g

state, flags = cp.zeros((6, n)), cp.zeros(n, np.uint32)
state[0], state[3] = cp.linspace(0.0, 1.0, n), 1.0
start = state.copy()
h_probe = eagle.pinned((3, n))
h_flags = eagle.pinned(n, np.uint32)
g = propagate_with_events(state, h_probe, h_flags, flags)
g.launch(10)                                    # ten rounds
