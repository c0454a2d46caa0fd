"""What a person reads: tables."""

from flagharness.report._table import dry_run_table, summary_table
from flagharness.report._tasks import list_tasks, task_table

__all__ = ["dry_run_table", "list_tasks", "summary_table", "task_table"]
