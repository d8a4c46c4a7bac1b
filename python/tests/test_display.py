"""Progress: which lines move, and what a notebook shows. The lines are real ones."""

from w2vcl._progress import _MOVING, _Notebook, _Terminal

MOVING = [
    "reading text  4 MB",
    "building M  33.2%  ETA 0.6 s",
    "training  15.1%  50.5k words/s  34.8M pairs/s  lr 1.48e-02  loss 0.3140  ETA 28 s",
    "Walking  50.0%",
]
STAYING = [
    "Text: 1,813,085 words, 1,788,688 of them used (12,124 different, each at least 5 times) in 1,905 sentences, read in 0.5 s",
    "Plan: mode cl, model cbow, on cpu, 2 threads",
    "  work    2,048 iterations (1 epoch), 602,367 pairs each; 12,124 words, dim 100, 8 negatives",
    "Trained: 2,048 iterations in 31 s (58.0k words/s, 40.0M pairs/s), loss 0.3019",
    "Saved:   o, after 0.4 s in all. Try it:  w2vcl neighbors o WORD",
    "[1 of 2] cl, seed 1",
    "Judging the differences against chance",
]


def test_lines_that_move():
    assert [line for line in MOVING + STAYING if _MOVING.match(line)] == MOVING


def test_notebook_keeps_notes_and_shows_the_loss(monkeypatch):
    shown = _Notebook(("Saved:",))
    monkeypatch.setattr(shown, "_update", lambda: None)
    for line in STAYING[:3]:
        shown.show(line)
    for percent in (10, 20, 30):
        shown.show(f"training  {percent}.0%  1k words/s  loss 0.{percent}00  ETA 1 s")
    page = shown._repr_html_()
    assert 'value="30.0"' in page and "<polyline" in page and "loss 0.3000" in page and "Plan: mode cl" in page
    shown.show(STAYING[3])
    shown.show(STAYING[4])
    shown.end()
    assert repr(shown) == "\n".join(STAYING[:4])
    assert "<progress" not in shown._repr_html_() and "polyline" not in shown._repr_html_()


def test_terminal_replaces_moving_lines(monkeypatch):
    shown = _Terminal(())
    shown.live = True
    out = []
    monkeypatch.setattr(shown, "_write", out.append)
    for line in (STAYING[0], MOVING[2], MOVING[2], STAYING[3]):
        shown.show(line)
    shown.end()
    text = "".join(out)
    assert text.count("\n") == 2 and text.count("\r") == 5 and text.endswith("\r\x1b[K")
