"""Writes golden.tfevents with TensorBoard's own record writer and messages.

Needs: pip install tensorboard==2.21.0
"""
import pathlib

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

START = 1_700_000_000.5

with open(pathlib.Path(__file__).with_name("golden.tfevents"), "wb") as file:
    writer = RecordWriter(file)
    writer.write(Event(wall_time=START, file_version="brain.Event:2").SerializeToString())
    for step, loss in [(1, 0.6931471805599453), (300, 0.25), (1 << 40, 1e-30)]:
        values = [Summary.Value(tag="loss", simple_value=loss), Summary.Value(tag="words_per_second", simple_value=1.5e6)]
        writer.write(Event(wall_time=START + 2, step=step, summary=Summary(value=values)).SerializeToString())
    writer.flush()
