"""Command-line commands, each a thin shell over the packages below."""
