"""Lessons: experiments in a sequence, with texts and questions, as files."""
