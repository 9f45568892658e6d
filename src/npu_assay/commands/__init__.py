"""One module a command (or group of commands). cli.py imports a module only when its command is named."""
