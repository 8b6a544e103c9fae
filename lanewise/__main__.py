"""`python -m lanewise`: the command where it is not on the path."""

from lanewise.cli.main import main

main()
