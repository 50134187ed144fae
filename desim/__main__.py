"""`python -m desim` is the command `desim`."""

from desim.cli.main import main

if __name__ == "__main__":  # a spawned worker imports this file again
    main()
