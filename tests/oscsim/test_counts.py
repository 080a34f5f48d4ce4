"""The vocabulary of counts: what is not in it, or impossible, is an error and never a silent zero."""

import pytest

from oscsim.counts import EVENTS, CountError, Counts, unit
from oscsim.target import Plan


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("joules", 1.0, "event 'joules': unknown"),
        ("couplers", 1.0, "expected 'couplers.<bits>'"),
        ("oscillators.6", 1.0, "expected 'oscillators' alone"),
        ("couplers.six", 1.0, "expected a whole number of bits"),
        ("oscillators", -1.0, "expected a finite number"),
        ("oscillators", float("nan"), "expected a finite number"),
        ("oscillators", True, "expected a finite number"),
    ],
)
def test_impossible_counts_are_refused(name, number, words):
    with pytest.raises(CountError, match=words.replace("(", r"\(")):
        Counts({name: number})


def test_sums_and_details():
    first = Counts({"coupling_cycles.6": 2.0, "oscillators": 1.0})
    second = Counts({"coupling_cycles.6": 1.0, "coupling_cycles.8": 4.0})
    both = first + second
    assert dict(both) == {"coupling_cycles.6": 3.0, "oscillators": 1.0, "coupling_cycles.8": 4.0}
    assert both.total("coupling_cycles") == 7.0
    assert both.total("hops") == 0.0
    assert both.details("coupling_cycles") == ("6", "8")
    assert both.times(2.0)["coupling_cycles.8"] == 8.0
    assert first.with_(oscillators=9.0)["oscillators"] == 9.0
    assert first["oscillators"] == 1.0, "counts do not change in place"


def test_every_event_has_a_unit_and_a_meaning():
    assert all(unit_ and meaning for unit_, _, meaning in EVENTS.values())
    assert unit("coupling_cycles.6") == "cycle"


def test_a_plan_gives_back_its_counts_exactly():
    counts = Counts({"neuron_updates": 123456789, "bytes.hbm": 0.5, "hops": 2**53})
    assert dict(Plan("x", "0" * 64, (("counts", counts.entry),)).counts()) == dict(counts)


def test_a_plan_whose_counts_were_spoiled_is_refused():
    with pytest.raises(CountError, match="unknown"):
        Plan("x", "0" * 64, (("counts", {"nothing": 1}),)).counts()
