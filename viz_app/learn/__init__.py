"""The Learn page: stations, each a text beside a live figure, about the sentence that the reader typed."""
