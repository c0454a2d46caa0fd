"""The run directory: journal, resume, prediction files."""

from flagharness.run._files import replacing, write_json, write_json_list, write_text
from flagharness.run._folder import SavedPredictions, TaskFolder, merge_inferences, only_writer, summary_lock
from flagharness.run._journal import Journal, Location
from flagharness.run._prediction import UNREADABLE_ANSWER, Prediction, dump_line, dump_pretty

__all__ = [
    "UNREADABLE_ANSWER",
    "Journal",
    "Location",
    "Prediction",
    "SavedPredictions",
    "TaskFolder",
    "dump_line",
    "dump_pretty",
    "merge_inferences",
    "only_writer",
    "replacing",
    "summary_lock",
    "write_json",
    "write_json_list",
    "write_text",
]
