"""The command `lanewise`: one file per subcommand."""
