"""Tools and snippets found by plain questions, with words alone or with vectors as well."""
