"""Targets: machine code from a program that has been through the passes."""
