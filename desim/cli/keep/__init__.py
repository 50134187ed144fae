"""Commands on records: replay, resume, export, memory."""
