"""Explains XLA TPU out-of-memory errors: the command ``whyoom`` for Python.

``diagnose(exception)`` gives the diagnosis of a text or an exception. ``install()`` prints it under each uncaught
exception that has one, in scripts, threads and notebooks. All that is known of errors is in the program; this module
runs it.
"""

from ._diagnose import WhyoomError, diagnose, find_binary
from ._hook import install, uninstall

__all__ = ["WhyoomError", "diagnose", "find_binary", "install", "uninstall"]
