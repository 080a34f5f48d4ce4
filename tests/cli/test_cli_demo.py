"""The demo end to end, its report and its files."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import torch
from layers import layer
from typer.testing import CliRunner

import models
import oscsim.cli.commands
from hw_targets import get_target
from oscsim import solve
from oscsim.cli.commands import DEMO_TEXT
from oscsim.demo import files, sections
from oscsim.demo.gallery import TITLES, settling_arrays
from oscsim.demo.layers import clamped_layer, network_layer, pick_cells, settling_layer
from oscsim.energy import Interval

OTHER_TEXT = "Alice was beginning to get very tired of sitting by her sister on the bank,"


@pytest.fixture
def one_target(monkeypatch):
    """Only the quickest backend: what differs between the targets is tested once, end to end."""
    monkeypatch.setattr(oscsim.cli.commands, "target_names", lambda: ("brian2",))


@pytest.fixture
def small_demo(cli, checkpoint, one_target, tmp_path):
    """Run the demo of an untrained model on one target."""

    def call(text=DEMO_TEXT):
        return cli(
            "demo", "--checkpoint", checkpoint, "--output", tmp_path / "demo", "--text", text, "--json", "-"
        )

    return call


@pytest.fixture(scope="module")
def first_demo(checkpoint, tmp_path_factory):
    """(result.json, report.html) of one such run, for the tests that only read them."""
    folder = tmp_path_factory.mktemp("first") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oscsim.cli.commands, "target_names", lambda: ("brian2",))
        arguments = ["demo", "--checkpoint", str(checkpoint), "--output", str(folder)]
        assert CliRunner().invoke(oscsim.cli.commands.app, arguments).exit_code == 0
    return json.loads((folder / "result.json").read_text()), (folder / "report.html").read_text()


def digests(content, path=""):
    """Every value under a name that ends in digest or digests, by its path."""
    found = {}
    for name, value in content.items():
        here = f"{path}/{name}"
        if name.endswith("digest"):
            found[here] = value
        elif isinstance(value, dict):
            found |= (
                {f"{here}/{n}": v for n, v in value.items()}
                if name.endswith("digests")
                else digests(value, here)
            )
    return found


def test_demo_conforms_on_all_targets(cli, checkpoint, tmp_path):
    result = cli(
        "demo",
        "--checkpoint",
        checkpoint,
        "--output",
        tmp_path / "demo",
        "--picture",
        tmp_path / "demo/x.png",
    )
    assert result.code == 0, result.err
    content = json.loads((tmp_path / "demo/result.json").read_text())
    assert content["conforms"] is True
    assert len(content["text"]) >= 64
    for name in ("pair", "clamped", "cells", "network"):
        targets = content["sections"][name]["targets"]
        assert {target: entry["status"] for target, entry in targets.items()} == dict.fromkeys(
            ("triton", "brian2", "lava"), "conforms"
        )
    assert set(content["network_approximation_error"]) == {"triton", "brian2", "lava"}
    assert (tmp_path / "demo/x.png").read_bytes().startswith(b"\x89PNG")
    assert len(re.findall(r"\[ ?\d+/21\]", result.err)) == 21  # progress
    energies = {re.split(":| on ", row["label"])[0]: "total" in row for row in content["energy"]["rows"]}
    assert list(energies) == [
        "ring, 65 nm, pair", "ring, 65 nm, network", "triton", "brian2", "lava", "circuit", "spice",
        "digital int8, 7 nm",
    ]  # fmt: skip
    assert all(energies[name] for name in ("triton", "brian2", "lava", "circuit"))
    page = (tmp_path / "demo/report.html").read_text()
    for name in ("closed form", "triton", "brian2", "lava"):
        assert f">{name}</text>" in page  # a panel of its own in the pictures


def test_report_is_self_contained_and_names_what_was_run(first_demo):
    content, page = first_demo
    links = re.findall(r"(?:src|href)\s*=\s*[\"']?([^\"'\s>]+)", page) + re.findall(r"url\(([^)]+)\)", page)
    assert links
    assert not [link for link in links if not link.startswith(("#", "data:"))]
    assert "http" not in page
    assert page.count("<svg") == page.count("</svg>") == len(TITLES)
    assert "<script" not in page
    for digest in [section["spec_digest"] for section in content["sections"].values()]:
        assert digest in page
    assert content["text_digest"] in page
    assert content["checkpoint"]["sha256"] in page


def rows_of(html):
    """Text of the cells of every row of a piece of HTML."""
    return [
        [unescape(re.sub("<.*?>", "", cell)).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL)
    ]


def test_every_joule_of_the_report_leads_to_a_citation(first_demo):
    """Table of joules -> its items -> their constants -> rows of the table of constants -> references."""
    content, page = first_demo
    section = page[page.index("What it would cost in joules") : page.index("Where the closed form may be")]
    joules, details, constants = re.findall(r"<table.*?</table>", section, re.DOTALL)
    sources = {row[0]: row for row in rows_of(constants)[1:]}
    references = (Path(__file__).parents[2] / "docs/references.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| ([A-Z][A-Z0-9]+) \|", references, re.MULTILINE))
    estimates = [row for row in content["energy"]["rows"] if "refused" not in row]
    shown = {row[0]: row[1] for row in rows_of(joules)[1:] if len(row) == 7}
    bodies = re.findall(r"<tbody>.*?</tbody>", details, re.DOTALL)
    assert list(shown) == [row["label"] for row in estimates] and len(shown) >= 3
    for row, body in zip(estimates, bodies, strict=True):
        total = row["total"]["value_j"]
        assert shown[row["label"]].startswith(str(Interval(total, total, total, total)).split()[0])
        items = [item for item in row["items"] if item["high_j"] > 0.0]
        assert sum(item["value_j"] for item in items) == pytest.approx(total)
        (first,), *lines = rows_of(body)
        assert first.startswith(f"{row['label']} counts ") and len(lines) == len(items)
        for item, line in zip(items, lines, strict=True):
            best = Interval(*[item["value_j"]] * 4)
            assert line[0][:5] == item["name"][:5] and line[1].startswith(str(best).split()[0])
            names = line[3].split(", ")
            assert names == [constant["name"] for constant in item["constants"]]
            for name in names:
                assert f'href="#constant-{name}"' in body and f'id="constant-{name}"' in constants
                assert sources[name][5] in known, name
    floors = {c["name"] for row in estimates if row["noise_floor"] for c in row["noise_floor"]["constants"]}
    assert floors and floors <= set(sources)
    assert not floors & {name for name, row in sources.items() if not {row[5]} & known} - {"temperature"}


def test_the_report_says_what_is_not_validated(first_demo):
    content, page = first_demo
    assert "not validated" in content["energy"]["validation"]
    assert content["energy"]["validation"] in unescape(page)


def test_another_text_changes_every_digest(first_demo, small_demo):
    first, second = digests(first_demo[0]), digests(small_demo(OTHER_TEXT).json())
    assert first.keys() == second.keys()
    assert len(first) >= 4 * 4 + len(TITLES)
    # only the regime map was measured beforehand
    assert [name for name in first if first[name] == second[name]] == ["/picture_digests/regime"]


def test_same_text_gives_the_same_digests(first_demo, small_demo):
    again = small_demo()
    assert again.code == 0
    assert digests(first_demo[0]) == digests(again.json())


def test_default_text_is_from_the_shipped_book():
    alice = models.load_data("alice")
    assert DEMO_TEXT.encode() in bytes(torch.cat([alice.train, alice.validation, alice.test]).tolist())
    assert len(sections.check_text(DEMO_TEXT)) >= 64


@pytest.mark.parametrize("length", [0, 63, 513])
def test_text_of_another_length_is_refused(small_demo, tmp_path, length):
    result = small_demo("a" * length)
    assert (result.code, result.out) == (2, "")
    assert f"given {length} bytes" in result.err
    assert not (tmp_path / "demo").exists()


def test_missing_backend_ends_the_demo_at_once(cli, checkpoint, without_backends, tmp_path):
    result = cli("demo", "--checkpoint", checkpoint, "--output", tmp_path / "demo")
    assert result.code == 3
    assert "pip install nothing" in result.err
    assert not (tmp_path / "demo").exists()


def test_folder_that_is_a_file_is_refused_before_any_work(cli, checkpoint, tmp_path):
    (tmp_path / "file").write_text("earlier")
    result = cli("demo", "--checkpoint", checkpoint, "--output", tmp_path / "file")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert (tmp_path / "file").read_text() == "earlier"


def test_failure_while_drawing_leaves_earlier_files(closed_forms, tmp_path, monkeypatch):
    (tmp_path / "demo").mkdir()
    for name in ("report.html", "result.json"):
        (tmp_path / "demo" / name).write_text("earlier")

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(files, "render", broken)
    with pytest.raises(ZeroDivisionError):
        files.write_demo(closed_forms, str(tmp_path / "demo"))
    assert [path.read_text() for path in sorted((tmp_path / "demo").iterdir())] == ["earlier", "earlier"]


def pair_layer(count=20):
    """Like the layer of a model: causal, a frequency ramp, heads that differ."""
    base = layer(heads=2, count=count, channels=3, mask="causal", spread=0.5)
    return base.replace(omega=base.omega + 0.05 * np.arange(count)[None, :, None])


def outcome(text):
    """A demo without targets: only the closed forms."""
    subject = sections.Subject(text, {"name": "x", "sha256": "y"}, 0, pair_layer(len(text)))

    class Silent:
        def __call__(self, _):
            return self

        def __enter__(self):
            return None

        def __exit__(self, *_):
            return None

    return sections.run(subject, [], get_target("circuit"), Silent())


@pytest.fixture(scope="module")
def closed_forms():
    """Such a demo, for the tests that only read it."""
    return outcome("twenty characters ok")


def test_demo_that_does_not_conform_says_so(closed_forms, tmp_path):
    done = closed_forms
    failed = sections.Trial("brian2", "failed", "it <broke>")
    section = replace(done.sections["pair"], trials=(failed,))
    done = replace(done, sections={**done.sections, "pair": section})
    content = files.write_demo(done, str(tmp_path))
    page = (tmp_path / "report.html").read_text()
    assert content["conforms"] is False
    assert "Not everything conforms: brian2: failed" in page
    assert "it &lt;broke&gt;" in page
    assert "Every run conforms" not in page


def test_text_is_escaped(tmp_path):
    files.write_demo(outcome("<script>'\"&</script>"), str(tmp_path))
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert page.count("<span>&lt;</span>") == 2
    assert "&amp;" in page


def test_cells_are_real_cells_settling_on_arcsin():
    pair = pair_layer()
    cells = pick_cells(pair)
    exact = solve(pair)
    assert len({tuple(cell) for cell in cells.index.tolist()}) == len(cells.ratio) == 6
    for (head, i, j), ratio in zip(cells.index.tolist(), cells.ratio, strict=True):
        assert i > j
        j_ij = exact.conditioning.coupling[head, i, j]
        expected = j_ij * np.sqrt(1 - ratio**2) if ratio <= 1 else 0.0
        assert exact.sync[head, i, j] == pytest.approx(expected, abs=1e-12)
    assert (cells.ratio[:4] < 1).all()
    assert (cells.ratio[4:] > 1).all()
    alone = solve(settling_layer(cells)).sync[:, 0, 1]
    np.testing.assert_allclose(alone, np.sqrt(np.maximum(1 - cells.ratio**2, 0)), atol=1e-9)


def test_drawn_flow_ends_at_the_dashes(closed_forms):
    ratios, (_, phases), recorded = settling_arrays(closed_forms)
    assert recorded == {}
    for ratio, end in zip(ratios[:3], phases[-1], strict=False):
        assert end == pytest.approx(np.arcsin(ratio), abs=1e-3)
    assert (phases[-1, 4:] > np.pi).all()


def test_clamped_layer_moves_but_does_not_arrive():
    clamped = clamped_layer(pair_layer())
    moved = solve(clamped).phase
    arrived = solve(clamped.replace(duration=np.inf)).phase
    share = np.abs(moved - clamped.theta)[:, 1:] / np.abs(arrived - clamped.theta)[:, 1:]
    assert 0.5 < np.median(share) < 0.95


def test_network_layer_is_the_longest_that_locks():
    pair = pair_layer()
    network, head = network_layer(pair)
    n = network.n_oscillators
    assert solve(network).conditioning.law == "locked_network"
    np.testing.assert_array_equal(network.omega[0], pair.omega[head, :n])
    assert 2 < n <= 32
