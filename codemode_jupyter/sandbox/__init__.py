"""Executors: run one pass of a program in a sandbox, and keep nothing of it. Knows no approvals and no storage."""
