"""Attempts to get out of a sandbox, and what hears of those that do; for every engine and language alike."""
