"""Runs at the start of each Python process of `whyoom try -- CMD`, whose PYTHONPATH begins with this folder.

Runs the user's own sitecustomize first. Then, if WHYOOM_TRY names a request, prepares to report the first compile that
runs out of memory. An error of whyoom is ignored: the job must run as if this file did not exist.
"""

import os
import sys
from importlib import machinery, util


def run_next() -> None:
    """Runs the next sitecustomize on the path in place of this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class StartWithJax:
    """Prepares the process when it imports jax; other programs pay nothing."""

    def find_spec(self, name, path=None, target=None):
        if name != "jax":
            return None
        sys.meta_path.remove(self)
        try:
            from whyoom_try import capture

            capture.start(os.environ["WHYOOM_TRY"])
        except Exception:
            pass
        return util.find_spec(name)


try:
    run_next()
finally:
    try:
        if os.environ.get("WHYOOM_PATCH"):
            from whyoom_try import patched

            patched.install_from_environment()
        if os.environ.get("WHYOOM_TRY"):
            sys.meta_path.insert(0, StartWithJax())
    except Exception:
        pass
