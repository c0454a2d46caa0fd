"""What a person reads: tables."""

from flagharness.report._judge_audit import Audit, audit_judges, audit_table, read_labels
from flagharness.report._table import dry_run_table, summary_table
from flagharness.report._tasks import list_tasks, task_table

__all__ = [
    "Audit",
    "audit_judges",
    "audit_table",
    "dry_run_table",
    "list_tasks",
    "read_labels",
    "summary_table",
    "task_table",
]
