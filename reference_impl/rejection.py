"""How the reference refuses an input."""


class Rejection(Exception):  # noqa: N818 - a refusal is an answer, not an error of the program
    """A clean refusal: the input breaks one rule, and nothing was changed.

    ``condition`` is the rule's stable name in ``spec/rules.yaml``; ``at`` is the
    0-based index of the offending event, filled in by whoever walks the list.
    """

    def __init__(self, condition: str, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.condition = condition
        self.message = message
        self.at = at
