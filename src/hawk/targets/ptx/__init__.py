"""NVIDIA's GPUs: one thread a sample, as PTX text."""
