"""The program as text: normalise, erase types, locate errors, truncate results."""
