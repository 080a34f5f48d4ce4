"""export, info and solve."""

import math

import numpy as np
import pytest
from layers import layer

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec, SyncResult, solve

ALICE = "Alice was beginning to get very tired of sitting by her sister"


def test_info_of_pair(cli, saved):
    path = saved(heads=2, count=5, channels=3)
    facts = cli("info", path, "--json", "-").json()
    spec = PhaseLayerSpec.load(path)
    assert facts["spec_digest"] == spec.digest
    assert (facts["heads"], facts["oscillators"], facts["channels"], facts["value_width"]) == (2, 5, 3, 3)
    assert facts["locked_fraction"] == pytest.approx(solve(spec).locked_fraction)
    assert facts["inert_fields"] == ["phase_0", "duration", "rate"]
    d = facts["lock_radius"][0]["to"]
    assert d == pytest.approx(
        spec.gain[0] * facts["order_parameter_range"][0]["to"] * math.exp(-facts["alpha"][0] * d**2)
    )


def test_info_names_what_has_no_effect(cli, saved):
    matrix = ExplicitCoupling(matrix=np.full((2, 6, 6), 0.5))
    clamped = cli("info", saved(dynamics="clamped", coupling=matrix), "--json", "-").json()
    assert clamped["inert_fields"] == ["order_parameter", "psi_0", "omega"]
    assert (clamped["lock_radius"], clamped["alpha"], clamped["duration"]) == (None, None, "inf")
    fixed = cli("info", saved(order_parameter=FixedOrder(r=[0.5, 1.0])), "--json", "-").json()
    assert "theta" in fixed["inert_fields"]


@pytest.mark.parametrize("field", ["order_parameter", "psi_0", "omega", "theta"])
def test_inert_fields_change_no_result(field):
    matrix = ExplicitCoupling(matrix=np.full((2, 6, 6), 0.5))
    pair = field == "theta"
    base = (
        layer(order_parameter=FixedOrder(r=[0.5, 1.0]))
        if pair
        else layer(dynamics="clamped", coupling=matrix)
    )
    change = {
        "order_parameter": FixedOrder(r=[0.1, 0.2]),
        "psi_0": np.ones((2, 6, 6)),
        "omega": 2 * base.omega,
        "theta": 2 * base.theta,
    }[field]
    np.testing.assert_array_equal(solve(base).sync, solve(base.replace(**{field: change})).sync)


def test_info_of_network_is_a_finding_beyond_locking(cli, saved):
    locked = cli("info", saved(dynamics="network", spread=0.05), "--json", "-").json()
    assert (locked["status"], locked["locked_fraction"]) == ("settled", 1.0)
    loose = cli("info", saved(dynamics="network", spread=3.0), "--json", "-").json()
    assert loose["status"] == "no_locked_state"
    assert "approximation" in loose["oracle"]


def test_info_of_one_token_has_no_share(cli, saved):
    facts = cli("info", saved(count=1), "--json", "-").json()
    assert facts["locked_fraction"] is None


def test_info_near_edge_share_counts_conditions_above_ten(cli, saved):
    # d/a = 0.998: condition 1/sqrt(1 - 0.998^2) = 15.8; both off-diagonal cells of one head
    path = saved(
        heads=1, count=2, channels=1, omega=[[[0.0], [0.998]]], theta=np.zeros((1, 2, 1)),
        gain=[1.0], coupling=ExplicitCoupling(matrix=np.ones((1, 2, 2))), values=None,
    )  # fmt: skip
    assert cli("info", path, "--json", "-").json()["near_edge_share"] == 1.0


def test_info_prints_a_table_for_people(cli, saved):
    result = cli("info", saved())
    assert result.code == 0
    assert "locked fraction" in result.out
    assert result.err == ""


def test_solve_saves_a_result(cli, saved, tmp_path):
    path = saved()
    result = cli("solve", path, "-o", tmp_path / "x.sync", "--json", "-")
    content = result.json()
    assert (result.code, content["status"], content["source"]) == (0, "settled", "closed_form")
    expected = solve(PhaseLayerSpec.load(path))
    np.testing.assert_array_equal(SyncResult.load(tmp_path / "x.sync").sync, expected.sync)
    assert content["arrays"]["phase"] is None
    assert content["arrays"]["sync"].startswith("float64(2, 6, 6)")


def test_json_file_holds_what_stdout_would(cli, saved, tmp_path):
    path = saved()
    printed = cli("solve", path, "--json", "-").out
    result = cli("solve", path, "--json", tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text() == printed
    assert "settled" in result.out


@pytest.mark.parametrize("dynamics", ["pair", "clamped", "network"])
def test_export(cli, checkpoint, tmp_path, dynamics):
    target = tmp_path / "x.phase"
    result = cli(
        "export",
        checkpoint,
        "--text",
        ALICE,
        "--block",
        1,
        "--dynamics",
        dynamics,
        "-o",
        target,
        "--json",
        "-",
    )
    spec = PhaseLayerSpec.load(target)
    content = result.json()
    assert result.code == 0
    assert (content["spec_digest"], content["block"]) == (spec.digest, 1)
    assert (spec.dynamics, spec.n_oscillators, spec.mask) == (dynamics, len(ALICE), "causal")
    assert len(content["checkpoint"]["sha256"]) == 64


def test_export_follows_text_block_and_duration(cli, checkpoint, tmp_path):
    def digest(*options):
        return cli("export", checkpoint, "-o", tmp_path / "x.phase", "--json", "-", *options).json()[
            "spec_digest"
        ]

    clamped = ("--text", ALICE, "--dynamics", "clamped")
    digests = [
        digest("--text", ALICE),
        digest("--text", ALICE[:-1] + "!"),
        digest("--text", ALICE, "--block", 1),
        digest(*clamped),
        digest(*clamped, "--duration", 0.5),
    ]
    assert len(set(digests)) == len(digests)


def test_export_reads_a_text_file(cli, checkpoint, tmp_path):
    (tmp_path / "text.txt").write_text(ALICE + "\n")
    for given in (ALICE, f"@{tmp_path}/text.txt"):
        cli("export", checkpoint, "--text", given, "-o", tmp_path / f"{len(given)}.phase")
    first, second = (PhaseLayerSpec.load(path) for path in sorted(tmp_path.glob("*.phase")))
    assert first == second


def test_export_shipped_checkpoint(cli, tmp_path):
    result = cli("export", "shipped", "--text", ALICE, "-o", tmp_path / "x.phase", "--json", "-")
    assert result.code == 0
    assert result.json()["checkpoint"]["name"] == "shipped"
    assert 0.2 <= result.json()["locked_fraction"] <= 0.9
