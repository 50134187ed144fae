"""The command line: one file a command; `main` holds the list of them."""
