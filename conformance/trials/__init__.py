"""Trials of real processes: writers that are killed, and disks that fail them."""
