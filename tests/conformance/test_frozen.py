"""The exam: 200 random layers, frozen before the targets were written, on all three targets."""

import pytest
from frozen_specs import COUNT, DIGESTS, frozen_spec

from hw_targets import get_target, target_names
from oscsim import compare, solve

# Layers that a target may leave without a verdict, with the status and the reason. At most 5 % of 200.
NAMED = {
    198: ("undecided", "one driven phase of 25 starts so near its unstable point that its condition is 278"),
}


def test_the_exam_has_not_changed():
    assert [frozen_spec(i).digest for i in range(COUNT)] == DIGESTS.read_text().split()


def test_few_layers_are_left_without_a_verdict():
    assert len(NAMED) <= 0.05 * COUNT


@pytest.mark.filterwarnings("error::RuntimeWarning", "error::oscsim.target.ConvergenceWarning")
@pytest.mark.parametrize("index", range(COUNT))
def test_frozen_layer(index):
    spec = frozen_spec(index)
    reference = solve(spec)
    for name in target_names():
        target = get_target(name)
        comparison = compare(target.lower(spec, target.config()).run(), reference)
        if index in NAMED:
            assert comparison.conforms or comparison.status == NAMED[index][0], comparison
        else:
            assert comparison.conforms, comparison
