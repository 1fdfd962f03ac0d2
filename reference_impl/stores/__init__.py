"""Stores that keep what they have answered for, on real disks: the durable half of the reference.

Nothing here is a rule of its own. The rules are those of ``spec/backend.md`` and of the page of each
format; these modules show how a program keeps them when it can be stopped between any two instructions.
"""
