"""Imports the modules of every command, for processes that are forked from one that has done so."""

from importlib import import_module

from plimsoll.cli.command_group import COMMANDS

for _module in COMMANDS.values():
    import_module(_module, "plimsoll.cli")
