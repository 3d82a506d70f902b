"""From a Python function to a program: read its text, walk it, write what it means."""
