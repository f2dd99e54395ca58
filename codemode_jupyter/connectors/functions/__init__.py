"""Python functions as tools: what their signatures, annotations and docstrings say, and how they are called."""
