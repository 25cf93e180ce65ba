"""``python -m whyoom``: runs the program with the same arguments."""

import os
import sys

from whyoom import WhyoomError, find_binary


def main() -> None:
    try:
        binary = find_binary()
        os.execv(binary, [binary, *sys.argv[1:]])
    except WhyoomError as error:
        sys.exit(f"whyoom: {error}")
    except OSError as error:
        sys.exit(f"whyoom: cannot run {binary}: {error.strerror}")


if __name__ == "__main__":
    main()
