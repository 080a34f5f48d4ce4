"""Error budget: what a number format and a step are predicted to cost, source by source, for a given
layer.
"""
