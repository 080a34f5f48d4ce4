"""``oscsim bench``: speed and memory of the fused attention ops, once they have been shown to be right.

options.py says what is measured, workload.py makes the inputs, contenders.py the calls. gate.py decides
whether a speed may be printed at all (reference.py and its kin hold the float64 answers). clock.py and
memory.py measure, session.py runs everything, report.py and plot.py show it.
"""
