"""The bridge between threads and windows.

Nothing here imports torch until a thread has begun. A thread puts plain objects on a queue; the GUI thread takes them
off and emits signals or runs callbacks, so no widget is touched from another thread.
"""
