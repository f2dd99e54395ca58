"""Code Mode for Jupyter: one program composes tools; every call is recorded, approved where needed, and can be replayed."""
