"""NVIDIA's GPUs: kernels as PTX, graphs as CUDA graphs, through the driver."""
