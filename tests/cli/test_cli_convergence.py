"""``oscsim convergence`` and ``oscsim run --explain``."""

import json

import numpy as np
import pytest

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(3)
    spec = PhaseLayerSpec(
        omega=rng.normal(0, 0.4, (1, 5, 1)),
        theta=np.zeros((1, 5, 1)),
        coupling=FrequencyCoupling(alpha=[0.3]),
        gain=[1.0],
        order_parameter=FixedOrder(r=[1.0]),
        time_unit_s=5e-9,
    )
    path = tmp_path_factory.mktemp("layer") / "five.phase"
    spec.save(path)
    return str(path)


def test_a_family_is_compared_and_its_law_holds(cli, tmp_path) -> None:
    done = cli(
        "convergence", "--family", "lc", "--set", "mu=0.3", "--epsilon", "0.1", "--epsilon", "0.03",
        "--ratio", "0.6", "--ratio", "0.9", "--set", "phase_accuracy=1e-4",
        "--json", str(tmp_path / "c.json"), "--csv", str(tmp_path / "c.csv"),
        "--plot", str(tmp_path / "c.png"),
    )  # fmt: skip
    assert done.code == 0, done.err
    content = json.loads((tmp_path / "c.json").read_text())
    law = next(law for law in content["laws"] if law["kind"] == "pair, locked" and law["comparison"] == "own")
    assert 0.75 < law["order"]["exponent"] < 1.25
    assert content["failures"] == []
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 1 + len(content["rows"]) == 5
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--family", "rc"), "--family: given 'rc'"),
        (("--set", "family=ring"), "leave it out of --set"),
        (("--epsilon", "0"), "--epsilon: given 0"),
        (("--ratio", "1"), "locking edge"),
        (("--network", "1"), "--network: given 1"),
        (("--plot", "picture.svg"), "--plot"),
        (("--set", "stages=5"), "stages"),
    ],
)
def test_what_makes_no_study_is_refused(cli, options: tuple[str, ...], words: str) -> None:
    done = cli("convergence", *options)
    assert done.code == 2
    assert words in done.err


def test_too_strong_a_coupling_is_refused_with_the_nearest_valid_choice(cli) -> None:
    done = cli("convergence", "--set", "mu=0.1", "--epsilon", "0.2", "--ratio", "0.5")
    assert done.code == 2
    assert "--epsilon: given 0.2" in done.err and "collapse" in done.err


def test_a_study_that_would_take_for_ever_is_refused(cli) -> None:
    done = cli("convergence", "--epsilon", "1e-6", "--ratio", "0.5")
    assert done.code == 2
    assert "--epsilon: given 1e-06" in done.err and "carrier cycles" in done.err


def test_run_explains_a_chip(cli, layer: str, tmp_path) -> None:
    done = cli(
        "run", layer, "--target", "circuit", "--explain", "--set", "mu=0.3", "--set", "coupling_bits=5",
        "--set", "coupling_mismatch=0.01", "--set", "phase_accuracy=1e-3", "--json", str(tmp_path / "r.json"),
    )  # fmt: skip
    assert done.code == 0, done.err
    chain = json.loads((tmp_path / "r.json").read_text())["chain"]
    assert [link["name"] for link in chain["links"]] == ["own law", "quantised", "mismatched", "circuit"]
    assert chain["links"][1]["rms"] > 1e-3 > chain["links"][3]["rms"]
    assert "all together" in done.out


@pytest.mark.parametrize("options", [("--target", "brian2"), ("--target", "circuit", "--plan")])
def test_explain_without_a_circuit_run_is_refused(cli, layer: str, options: tuple[str, ...]) -> None:
    done = cli("run", layer, *options, "--explain")
    assert done.code == 2
    assert "--explain: given with" in done.err
