"""Python in the sandbox: the interpreter's files, and the package that waits in it for a program."""
