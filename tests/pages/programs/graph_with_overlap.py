import numpy as np
import cupy as cp
import eagle
import hawk
from hawk import Vector

n = 6

@hawk.kernel
def step(x: Vector[2]) -> Vector[2]:
    return hawk.math.vec(x[1], 0.5 * x[0] + 1.0)

@eagle.Graph.builder
def round_(a, b, c, h_frame):
    g = eagle.Graph()
    with g.parallel() as p:
        with p.branch():
            eagle.copy(a, into=h_frame)          # a picture of `a` leaves
        with p.branch() as w:
            b = step(a)                          # beside it: these only read `a`
            c = step(b)
            w.wait(h_frame)                      # but this one overwrites it
            a = step(c, buffer=a)
    return g

a, b, c = cp.ones((2, n)), cp.zeros((2, n)), cp.zeros((2, n))
h_frame = eagle.pinned((2, n))
g = round_(a, b, c, h_frame)
g.launch(3)
