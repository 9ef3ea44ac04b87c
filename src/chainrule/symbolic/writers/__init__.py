"""Formats that a document can be written in, a file for each."""
