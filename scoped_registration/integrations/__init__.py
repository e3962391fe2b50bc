"""Adapters to frameworks. Each is imported only by who uses it."""
