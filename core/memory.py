"""Errors that mean a lack of memory. No torch."""

_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cannot allocate memory",
    "bad_alloc",
    "could not create a memory object",
    "can't start new thread",
    "failed to map segment",  # of a library
    "resource temporarily unavailable",  # a thread, whose stack is memory
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that the machine or the device is out of memory."""
    return isinstance(error, MemoryError) or any(
        words in str(error).lower() for words in _OUT_OF_MEMORY
    )
