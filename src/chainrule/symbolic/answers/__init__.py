"""Answers of people compared with the right ones: equal, or which term differs and how."""
