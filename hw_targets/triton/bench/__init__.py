"""``oscsim bench``: how fast and how small the fused attention ops are, after they have been shown to be right.

options.py says what is measured, cases.py makes the inputs, contenders.py the calls, gate.py decides whether a speed
may be printed at all, clock.py and memory.py measure, session.py runs everything, report.py and plot.py show it.
"""
