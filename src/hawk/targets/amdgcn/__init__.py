"""AMD's GPUs: one thread a sample, as object code. Nothing launches it yet."""
