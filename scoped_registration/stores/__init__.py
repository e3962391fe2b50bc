"""Stores for state that outlives a worker; each engine is imported where it is used."""
