"""Fuzzing: inputs that nobody wrote by hand, put to several implementations at once.

``draw`` is where choices come from, the recipes (``logs``, ``faults``, ``scripts``, ``cells`` …) make
requests from them, ``recipes`` lists which recipe belongs to which operation. ``compare`` tells answers
apart, ``quirks`` explains what is known, ``shrinking`` makes a difference small, ``findings`` keeps it.
"""
