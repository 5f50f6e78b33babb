"""`python -m nacre` is the command `nacre`."""

from nacre.cli import main

if __name__ == "__main__":
    main()
