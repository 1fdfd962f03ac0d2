"""Finds faults of an adapter: of the glue between the protocol and an implementation, never of the latter.

``examination`` runs the checks; ``conversation`` and ``reading`` talk to the process and forgive what
they can, so that one fault shows as one finding; ``catalogue`` says what a finding means and how to fix it.
"""
