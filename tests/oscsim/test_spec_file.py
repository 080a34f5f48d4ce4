"""The file format: exact round trips, and nothing else is read."""

import json
import pickle

import numpy as np
import pytest
from layers import fields

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec, SyncResult, solve
from oscsim.errors import SchemaError, SpecError
from oscsim.io import read_file, write_file


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "layer.phase"
    PhaseLayerSpec(**fields(padding=np.array([False, True, False]))).save(path)
    return path


CHANGES = {
    "nothing": {},
    "no values": {"values": None},
    "minus zero": {"theta": -np.zeros((2, 3, 4))},
    "fixed order": {"order_parameter": FixedOrder(r=np.full((2, 3), 0.5)), "mask": "causal"},
    "clamped": {"dynamics": "clamped", "duration": 0.1, "rate": -np.ones((2, 3, 4))},
    "psi": {"psi_0": np.ones((2, 3, 3)), "padding": np.array([True, False, False])},
    "scale": {"time_unit_s": 1 / 3, "carrier_hz": 1e12},
}


@pytest.mark.parametrize("name", CHANGES)
def test_round_trip_is_byte_identical(name, tmp_path):
    spec = PhaseLayerSpec(**fields(**CHANGES[name]))
    first, second = tmp_path / "a.phase", tmp_path / "b.phase"
    spec.save(first)
    loaded = PhaseLayerSpec.load(first)
    loaded.save(second)
    assert loaded == spec and loaded.digest == spec.digest
    assert first.read_bytes() == second.read_bytes()


def test_explicit_coupling_round_trip(tmp_path):
    matrix = np.random.default_rng(1).standard_normal((2, 3, 3))
    spec = PhaseLayerSpec(**fields(coupling=ExplicitCoupling(matrix=np.asfortranarray(matrix))))
    spec.save(tmp_path / "x.phase")
    assert np.array_equal(PhaseLayerSpec.load(tmp_path / "x.phase").coupling.matrix, matrix)


def test_digest_is_stable_across_versions():
    spec = PhaseLayerSpec(
        omega=[[[0.0], [0.5]]], theta=[[[0.0], [1.0]]], coupling=ExplicitCoupling(matrix=[[[1, 0], [0, 1]]]),
        gain=[1.0],
    )  # fmt: skip
    assert spec.digest == "31ea829c4a57be51cdf195ba81dd51474441901649f11f8239f0d5af35538281"


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 40, 400, -1])
def test_truncated_file_names_the_offset(saved, cut):
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(SchemaError, match="offset"):
        PhaseLayerSpec.load(saved)


def test_appended_bytes_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"\0")
    with pytest.raises(SchemaError, match="offset"):
        PhaseLayerSpec.load(saved)


def test_flipped_payload_bit_is_refused(saved):
    data = bytearray(saved.read_bytes())
    data[-20] ^= 1
    saved.write_bytes(data)
    with pytest.raises(SchemaError, match="SHA-256"):
        PhaseLayerSpec.load(saved)


def test_unknown_version_says_which_are_read(saved):
    header, arrays = read_file(saved, "phase-layer-spec", (1,))
    body = {k: v for k, v in header.items() if k not in ("kind", "schema_version")}
    write_file(saved, "phase-layer-spec", 2, body, arrays)
    with pytest.raises(SchemaError, match=r"schema version 2 is unknown; this oscsim reads version\(s\) 1"):
        PhaseLayerSpec.load(saved)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps({"omega": 1}), "pickle"),
        (b"not a phase file, just some text that is long enough", "offset 0"),
        (b"", "offset 0"),
        (b"PK\x03\x04" + bytes(100), "offset"),
        ((30).to_bytes(8, "little") + json.dumps({"a": 1}).ljust(30).encode(), "offset 8"),
    ],
)
def test_foreign_files_are_refused(tmp_path, content, message):
    path = tmp_path / "x.phase"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=message):
        PhaseLayerSpec.load(path)


def test_missing_file_is_not_a_schema_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        PhaseLayerSpec.load(tmp_path / "none.phase")


def test_resealed_but_invalid_content_is_refused(saved):
    """A correct checksum does not make a layer valid."""
    header, arrays = read_file(saved, "phase-layer-spec", (1,))
    body = {k: v for k, v in header.items() if k not in ("kind", "schema_version")}
    write_file(saved, "phase-layer-spec", 1, body, arrays | {"gain": -arrays["gain"]})
    with pytest.raises(SpecError, match="gain"):
        PhaseLayerSpec.load(saved)
    for broken in ({**body, "extra": 1}, {**body, "coupling": "explicit"}, {**body, "mask": ["full"]}):
        write_file(saved, "phase-layer-spec", 1, broken, arrays)
        with pytest.raises((SchemaError, SpecError)):
            PhaseLayerSpec.load(saved)
    write_file(saved, "phase-layer-spec", 1, body, arrays | {"surprise": np.zeros(3)})
    with pytest.raises(SchemaError, match="unknown array"):
        PhaseLayerSpec.load(saved)


def test_failed_write_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        PhaseLayerSpec(**fields()).save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def _mutate(data: bytes, rng: np.random.Generator) -> bytes:
    kind = rng.integers(6)
    out = bytearray(data)
    if kind == 0:  # flip one bit
        out[rng.integers(len(out))] ^= 1 << rng.integers(8)
    elif kind == 1:  # overwrite a run
        start = rng.integers(len(out))
        run = rng.integers(1, 20)
        out[start : start + run] = rng.bytes(len(out[start : start + run]))
    elif kind == 2:  # cut
        del out[rng.integers(len(out)) :]
    elif kind == 3:  # remove a run
        start = rng.integers(len(out))
        del out[start : start + rng.integers(1, 40)]
    elif kind == 4:  # insert
        start = rng.integers(len(out))
        out[start:start] = rng.bytes(rng.integers(1, 40))
    else:  # damage the header with characters JSON knows
        where = rng.integers(8, min(len(out), 1500))
        out[where] = int(rng.choice(list(b'{}[]",:0123456789-eE\\ntrue')))
    return bytes(out)


def test_ten_thousand_mutations(saved):
    """Every damaged file is a valid spec or a SchemaError / SpecError, never anything else."""
    rng = np.random.default_rng(20261129)
    data, original = saved.read_bytes(), PhaseLayerSpec.load(saved)
    path, survived = saved.with_name("mutant.phase"), 0
    for _ in range(10_000):
        path.write_bytes(_mutate(data, rng))
        try:
            assert PhaseLayerSpec.load(path) == original
            survived += 1
        except (SchemaError, SpecError):
            pass
    assert survived < 200  # only mutations that change nothing a reader sees


def test_result_round_trip(tmp_path):
    for dynamics in ("pair", "clamped", "network"):
        result = solve(PhaseLayerSpec(**fields(dynamics=dynamics)))
        result.save(tmp_path / "r.sync")
        loaded = SyncResult.load(tmp_path / "r.sync")
        assert loaded.provenance == result.provenance and loaded.status is result.status
        for name in ("sync", "locked", "weights", "order_parameter", "output", "phase"):
            assert np.array_equal(getattr(loaded, name), getattr(result, name))
        assert np.array_equal(loaded.conditioning.condition, result.conditioning.condition)


def test_a_result_is_no_spec(tmp_path):
    solve(PhaseLayerSpec(**fields())).save(tmp_path / "r.sync")
    with pytest.raises(SchemaError, match="'sync-result' file, expected a 'phase-layer-spec'"):
        PhaseLayerSpec.load(tmp_path / "r.sync")


def _with_header_text(path, old, new):
    """Change text of the sealed header in place; the outer length follows."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    outer = data[8 : 8 + length].replace(old, new)
    path.write_bytes(len(outer).to_bytes(8, "little") + outer + data[8 + length :])


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"1e999", b"-1e999"])
def test_numbers_json_does_not_have_are_refused(saved, number):
    _with_header_text(saved, b"1000000000.0", number)
    with pytest.raises(SchemaError):
        PhaseLayerSpec.load(saved)


def test_other_number_types_are_refused(saved):
    header, arrays = read_file(saved, "phase-layer-spec", (1,))
    body = {k: v for k, v in header.items() if k not in ("kind", "schema_version")}
    for name, kind in (("omega", np.float32), ("gain", np.int64)):
        write_file(saved, "phase-layer-spec", 1, body, arrays | {name: arrays[name].astype(kind)})
        with pytest.raises(SchemaError, match=f"'{name}' is"):
            PhaseLayerSpec.load(saved)
    write_file(saved, "phase-layer-spec", 1, body | {"duration": 10**400}, arrays)
    with pytest.raises(SpecError, match="too large"):
        PhaseLayerSpec.load(saved)


@pytest.mark.parametrize(
    "changes",
    [{"accuracy": "x"}, {"accuracy": None}, {"accuracy": {"epsilon": "tiny"}}, {"status": "fine"},
     {"provenance": {"source": None}}],
)  # fmt: skip
def test_result_headers_of_the_wrong_type_are_refused(tmp_path, changes):
    path = tmp_path / "r.sync"
    solve(PhaseLayerSpec(**fields())).save(path)
    header, arrays = read_file(path, "sync-result", (1,))
    body = {k: v for k, v in header.items() if k not in ("kind", "schema_version")}
    write_file(path, "sync-result", 1, body | changes, arrays)
    with pytest.raises(SchemaError, match="wrong type"):
        SyncResult.load(path)
    write_file(path, "sync-result", 1, body, arrays | {"more": np.zeros(2)})
    with pytest.raises(SchemaError, match="unknown array"):
        SyncResult.load(path)


def test_files_of_every_length_are_read(tmp_path):
    """A header of 640 or 896 bytes begins like a pickle; it is none."""
    path, lengths = tmp_path / "x.bin", set()
    for size in range(0, 1400, 4):
        write_file(path, "test", 1, {"text": "x" * size}, {"a": np.zeros(1)})
        lengths.add(int.from_bytes(path.read_bytes()[:8], "little"))
        assert read_file(path, "test", (1,))[0]["text"] == "x" * size
    assert {640, 896, 1152, 1408} <= lengths


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol_are_refused(tmp_path, protocol):
    path = tmp_path / "x.phase"
    path.write_bytes(pickle.dumps({"omega": np.zeros(100)}, protocol=protocol))
    with pytest.raises(SchemaError):
        PhaseLayerSpec.load(path)
