"""Puts the program into the wheel.

$W2VCL_BINARY names the program and $W2VCL_PLATFORM the wheel's tag (wheel.sh sets both). Without
them the program is built here, for this machine and without CUDA, which needs Go.
"""

import os
import pathlib
import subprocess
import sysconfig
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = pathlib.Path(__file__).resolve().parent.parent


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        binary = os.environ.get("W2VCL_BINARY") or self.build()
        os.chmod(binary, 0o755)
        build_data["force_include"][binary] = "w2vcl/bin/w2vcl"
        build_data["pure_python"] = False
        platform = os.environ.get("W2VCL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = "py3-none-" + platform

    def build(self):
        self.folder = tempfile.TemporaryDirectory()
        binary = os.path.join(self.folder.name, "w2vcl")
        subprocess.run([ROOT / "packaging" / "binary.sh", "host", binary], check=True)
        return binary
