#!/usr/bin/env python3
"""Writes what a release consists of, as CycloneDX 1.6.

    sbom.py VERSION PROGRAM... >FILE

It lists the modules that go version finds in the programs, Go, and what the Python module needs.
"""

import json
import subprocess
import sys
from urllib.parse import quote


def component(kind: str, name: str, version: str) -> dict[str, str]:
    purl = f"pkg:{kind}/{quote(name)}@{quote(version)}" if version else f"pkg:{kind}/{quote(name)}"
    found = {"type": "library", "bom-ref": purl, "name": name, "purl": purl}
    return found | ({"version": version} if version else {})


def main(version: str, *programs: str) -> None:
    parts = [component("pypi", "numpy", ""), component("pypi", "tomli", "")]
    for program in programs:
        out = subprocess.run(["go", "version", "-m", "-json", program], check=True, capture_output=True).stdout
        build = json.loads(out)
        parts.append(component("golang", "stdlib", build["GoVersion"].removeprefix("go")))
        for module in build.get("Deps") or []:
            used = module.get("Replace") or module
            parts.append(component("golang", used["Path"], used["Version"]))
    unique = {part["purl"]: part for part in parts}
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "metadata": {"component": component("golang", "github.com/w2vcl/w2vcl", version) | {"type": "application", "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": [unique[purl] for purl in sorted(unique)],
    }
    print(json.dumps(bom, indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
