"""What a person reads: tables."""

from flagharness.report._table import dry_run_table, summary_table

__all__ = ["dry_run_table", "summary_table"]
