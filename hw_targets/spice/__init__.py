"""Circuits as netlists, run by ngspice: a second simulator that shares no code with the first."""
