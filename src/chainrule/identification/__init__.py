"""Identification: robots from recorded torques, and motions that show their parameters."""
