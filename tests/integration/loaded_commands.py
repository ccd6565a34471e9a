"""Imports the modules of every command, for processes that are forked from one that has done so."""

from plimsoll.cli.main import CommandGroup, command_names

for _name in command_names():
    CommandGroup().get_command(None, _name)
