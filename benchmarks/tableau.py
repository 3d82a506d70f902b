"""The numbers of the Runge-Kutta pair of orders 5 and 4 by Dormand and Prince (1980).

A row is a stage: how much of each slope before it. The last stage is the step of order 5 itself; E
is that step less the one of order 4. See Hairer, Norsett and Wanner, Solving Ordinary Differential
Equations I, table II.5.2.
"""

A21 = 1 / 5
A31, A32 = 3 / 40, 9 / 40
A41, A42, A43 = 44 / 45, -56 / 15, 32 / 9
A51, A52, A53, A54 = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
A61, A62, A63, A64, A65 = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
A71, A73, A74, A75, A76 = 35 / 384, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84
E1, E3, E4 = A71 - 5179 / 57600, A73 - 7571 / 16695, A74 - 393 / 640
E5, E6, E7 = A75 + 92097 / 339200, A76 - 187 / 2100, -1 / 40
