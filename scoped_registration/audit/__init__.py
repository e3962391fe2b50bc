"""What is found in programs: by reading their source, without importing them."""
