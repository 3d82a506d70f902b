"""The CPU: groups of samples in vector registers."""
