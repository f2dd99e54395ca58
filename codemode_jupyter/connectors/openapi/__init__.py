"""Services that an OpenAPI document describes, as connectors. Knows no replay and no storage."""
