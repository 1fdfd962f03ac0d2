"""Compact families: one case that stands for thousands of requests, with one verdict.

A case names a generator and its parameters, how many members that makes, and a digest of all
their right answers. ``generators`` makes the members, ``answers`` the right answers, and
``judging`` turns the answers of an adapter into one verdict that names the first failing member.
"""
