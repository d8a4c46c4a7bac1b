"""Puts the program into the wheel.

$W2VCL_BINARY names the program and $W2VCL_PLATFORM the wheel's tag (wheel.sh sets both). Without
them the program is built here, for this machine and without CUDA. This needs Go, and so do the
licences of what is in the program, which lie beside it.
"""

import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = pathlib.Path(__file__).resolve().parent.parent


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if shutil.which("go") is None:
            raise SystemExit("w2vcl is built with Go 1.26 or later, which is not here: install it, or install a wheel of w2vcl")
        self.folder = tempfile.TemporaryDirectory()
        binary = os.environ.get("W2VCL_BINARY") or self.made("binary.sh", "host", "w2vcl")
        os.chmod(binary, 0o755)
        build_data["force_include"][binary] = "w2vcl/bin/w2vcl"
        build_data["force_include"][self.made("licenses.sh", "licenses.txt")] = "w2vcl/bin/THIRD-PARTY-LICENSES.txt"
        build_data["pure_python"] = False
        platform = os.environ.get("W2VCL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = "py3-none-" + platform

    def made(self, script, *arguments):
        """Runs a script of packaging, whose last argument is the file that it makes."""
        file = os.path.join(self.folder.name, arguments[-1])
        subprocess.run([ROOT / ".ci" / "packaging" / script, *arguments[:-1], file], check=True)
        return file
