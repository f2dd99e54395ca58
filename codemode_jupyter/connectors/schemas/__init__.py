"""JSON schemas of strangers: arguments are checked against them, and they are read into shapes, at bounded cost."""
