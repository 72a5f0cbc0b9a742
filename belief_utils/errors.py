"""The one exception that users are meant to read."""


class BeliefError(ValueError):
    """A problem that the user can mend: one line that says what, where and what to do.

    The command line prints it without a traceback and ends with exit code 2.
    """
