"""The executable specification of the DeepSeek Harness session log, edition v0.

One module per page of ``spec/``; every function that enforces a rule names it.
Written to be translated: plain lists, plain dicts, plain loops, no imports
beyond the standard library. JSON values arrive as Python's own types; a member
that is absent is a key that is not there, which is never the same as ``None``.
"""
