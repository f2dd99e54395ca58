"""Tool sets of other libraries as a namespace of tools: what they declare is read, what they require is honoured."""
