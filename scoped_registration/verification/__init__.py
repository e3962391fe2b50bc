"""Shared-state verification: which mutable objects do two products of a factory share."""
