"""Figures as textbooks draw them: scenes of lines, discs and labels, written by Matplotlib or as TikZ."""
