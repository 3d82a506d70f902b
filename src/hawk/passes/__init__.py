"""Functions from program to program. Each keeps every bit of what is stored."""
