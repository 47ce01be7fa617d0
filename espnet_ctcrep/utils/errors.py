"""The one exception that means 'the input is wrong', with a sentence for the person."""

__all__ = ["InputError"]


class InputError(ValueError):
    """What is wrong (file:line or argument=value); what to do.

    The command line prints the message alone and exits with 2.
    """
