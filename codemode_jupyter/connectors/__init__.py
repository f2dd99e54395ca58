"""Capabilities: namespaces of tools with their code and credentials in the kernel. Knows no replay and no storage."""
