"""Widgets that several extensions share. They know neither models nor sentences."""
