"""An example of an extension of Augenmerk, explained in docs/extending.md."""
