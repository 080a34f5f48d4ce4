"""Run every command and example of README.md, in order; `make test` is left to the caller.

```bash blocks run line by line with the virtual environment first on PATH, ```python blocks as scripts;
a ```console block is only for reading.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("git clone", "cd ", "make test")  # the caller did these already


def main() -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    if not blocks:
        sys.exit("README.md: no bash or python block found")
    for language, body in blocks:
        lines = body.replace("\\\n", " ").splitlines() if language == "bash" else []
        commands = [["bash", "-c", line] for line in lines if line and not line.startswith(("#", *ELSEWHERE))]
        if language == "python":
            commands = [[sys.executable, "-c", body]]
        for command in commands:
            start = time.monotonic()
            print(f"README: {command[2].strip()}", flush=True)
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
            print(f"README: ok, {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
