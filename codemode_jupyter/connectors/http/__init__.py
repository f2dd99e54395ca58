"""Requests over HTTP from the kernel: where they may go, what programs may set, and the one that sends them."""
