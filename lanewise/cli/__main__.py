"""`python -m lanewise.cli`: the command where it is not installed."""

from lanewise.cli.main import main

main()
