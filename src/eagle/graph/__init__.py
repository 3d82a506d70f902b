"""Graphs: kernels, copies, host functions, branches and loops, built once and replayed often."""
