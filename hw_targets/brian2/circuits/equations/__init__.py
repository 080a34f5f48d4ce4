"""Equations of the oscillator families for Brian2, one file each: text and numpy functions."""
