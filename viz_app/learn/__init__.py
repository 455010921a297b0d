"""The Learn page: chapters, each a text beside a live figure, about the sentence that the reader typed."""
