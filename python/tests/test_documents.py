"""What the documents tell a reader to run is run: the job of Slurm, and the examples in Python."""

import os
import pathlib
import re
import runpy
import signal
import subprocess
import sys
import time
from unittest import mock

import pytest

import w2vcl

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_slurm_job_is_queued_again_and_goes_on(text, tmp_path):
    job = re.search(r"^    #!/bin/bash\n(?:(?:    .*)?\n)+", CLUSTER, re.MULTILINE)[0]
    (tmp_path / "job.sh").write_text(re.sub("^    ", "", job, flags=re.MULTILINE))
    (tmp_path / "wiki.txt").write_text(text.read_text(encoding="utf-8") * 4)
    stubs = {
        "srun": 'echo $$ >pid; shift; exec "$@"',  # without --cpus-per-task
        "scontrol": 'echo "$@" >>requeued',
        "w2vcl": f'exec {sys.executable} -m w2vcl "$@"',
    }
    (tmp_path / "bin").mkdir()
    for name, script in stubs.items():
        (tmp_path / "bin" / name).write_text("#!/bin/bash\n" + script + "\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
                   "SLURM_CPUS_PER_TASK": "2", "SLURM_JOB_ID": "42"}
    job = subprocess.Popen(["bash", "job.sh"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    while job.poll() is None and not (tmp_path / "runs" / "wiki.partial" / "metrics.jsonl").exists():
        time.sleep(0.01)
    if job.poll() is None:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    _, said = job.communicate(timeout=600)
    assert job.returncode == 0, said
    stopped = w2vcl.load(tmp_path / "runs" / "wiki").interrupted
    assert (tmp_path / "requeued").exists() == stopped, said
    if stopped:
        assert (tmp_path / "requeued").read_text() == "requeue 42\n"
    for _ in range(2):  # the second one has nothing to do
        subprocess.run(["bash", "job.sh"], cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=600)
        assert not w2vcl.load(tmp_path / "runs" / "wiki").interrupted


@pytest.mark.parametrize("number, module", enumerate(["wandb", "mlflow"]))
def test_dashboards(run, number, module, monkeypatch):
    pytest.importorskip("pandas")
    code = blocks(CLUSTER)[number]
    board = mock.MagicMock()
    monkeypatch.setitem(sys.modules, module, board)
    monkeypatch.setattr(sys, "argv", ["script", str(run.path)])
    exec(compile(code, module, "exec"), {})
    logged = board.init.return_value.__enter__.return_value.log if module == "wandb" else board.log_metrics
    assert logged.call_count == len(run.metrics)
    assert logged.call_args.args[0]["loss"] == run.summary["loss"]


def test_the_readme_of_the_module(text, tmp_path, monkeypatch):
    pytest.importorskip("gensim")
    words = text.read_text(encoding="utf-8").replace("cat", "paris").replace("dog", "france")
    (tmp_path / "wiki.txt").write_text(words)
    monkeypatch.chdir(tmp_path)
    [code] = blocks((ROOT / "python" / "README.md").read_text(encoding="utf-8"))
    exec(compile(code.replace("dim=300", "dim=8, iterations=16"), "README.md", "exec"), {})
    assert (tmp_path / "runs" / "wiki" / "vectors.bin").exists()


def test_the_licences_of_what_is_in_the_wheel():
    text = (pathlib.Path(w2vcl.__file__).parent / "bin" / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")
    for name in ("gorgonia.org/gorgonia v", "gonum.org/v1/gonum v", "Go go1.", "WordNet 3.0"):
        assert f"\n==== {name}" in text


def test_building_without_go_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    interface = "hatchling.builders.hooks.plugin.interface"
    for name in [interface[:at] for at, mark in enumerate(interface) if mark == "."] + [interface]:
        monkeypatch.setitem(sys.modules, name, mock.Mock(BuildHookInterface=object))
    hook = runpy.run_path(str(ROOT / "python" / "hatch_build.py"))["ProgramHook"]
    with pytest.raises(SystemExit, match="^w2vcl is built with Go 1.26 or later, which is not here: install it, or install a wheel of w2vcl$"):
        hook().initialize("standard", {})
