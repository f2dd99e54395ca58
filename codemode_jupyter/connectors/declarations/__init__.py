"""Tools as a program's author reads them: TypeScript declarations, Python stubs, or a list of names."""
