"""The face in a notebook: magics, run card, page connection.

The only room that imports IPython, ipykernel or widgets.
"""
