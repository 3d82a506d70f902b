"""Compiled code on disk: keyed by content, published atomically, able to explain a miss."""
