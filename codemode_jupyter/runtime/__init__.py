"""The durable control plane: executions, their log, decisions, replay and snippets. Knows no Jupyter and no browser."""
