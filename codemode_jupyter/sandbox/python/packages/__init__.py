"""Packages that Python programs may import: chosen by the user, had by the kernel, handed to the sandbox as bytes."""
