"""The sandbox's own package: what a Python program finds around it inside the sandbox.

It is put into the interpreter's memory snapshot as ``codemode_guest`` and never runs in the kernel. It imports the
standard library alone, and reaches the Worker's runtime by the ``bridge`` that it is handed. Nothing here is a
boundary: a program can change all of it, and harms nobody but itself. The boundary is the Worker.
"""
