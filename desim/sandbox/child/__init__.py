"""Code that runs in the program's own processes; imports the standard library alone."""
