"""The bridge between threads and windows.

Nothing here imports torch until a thread has begun. A thread puts plain objects on a queue. The GUI
thread takes them off, and emits signals or runs callbacks: no other thread touches a widget.
"""
