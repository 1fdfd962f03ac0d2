"""Exhaustive crash sweeps: one good log, damaged in thousands of places, and one verdict."""
