"""Oscillator circuits on Brian2: voltages and currents of every node, not phases."""
