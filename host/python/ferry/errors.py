"""Exceptions of ferry. Every one has `code`, ferry's name for how to react, such as "busy" or "unavailable"."""


class Error(Exception):
    """What ferry or a device refused, or could not do."""

    code: str = "internal"


class UsageError(Error, ValueError):
    """The caller asked for something that cannot be done; the code is "invalid_argument"."""

    code = "invalid_argument"


class CompileError(UsageError):
    """A mistake in a kernel, its schedule or its target. The message includes the location, if there is one."""

    file: str = ""
    line: int = 0  # from 1; 0: unknown
    column: int = 0  # from 1, in characters; 0: unknown


class KernelFailed(Error):
    """A kernel crashed, read outside of a tensor by an index that it computed, or returned a number other than 0."""


class LimitExceeded(Error, TimeoutError):
    """A time limit of the server ended the session."""


class ConnectionLost(Error, ConnectionError):
    """The session with the device is gone, with all that belongs to it."""

    nothing_ran: bool = False  # whether all of it may safely be repeated
