"""The picture of the documentation: codes limit on the left, mismatch on the right."""

from oscsim.monte_carlo.trade_off import RELATIVE, rows_of_line


def test_bits_stop_mattering_where_mismatch_takes_over():
    exact, coded = (rows_of_line(0.03, bits, chips=1) for bits in (None, 4))
    assert [row.value for row in exact] == [value * 0.03 for value in RELATIVE]
    assert coded[0].built_error > 5.0 * exact[0].built_error
    assert coded[-1].built_error < 1.05 * exact[-1].built_error
