"""Values as text, tables, frames and files. Imports no model, row or record."""
