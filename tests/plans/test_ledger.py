"""The ledger keeps every line, from any number of writers, and shows what was changed."""

import hashlib
import json
import subprocess
import sys

import pytest

from espnet_ctcrep.plans import ledger
from espnet_ctcrep.utils.errors import InputError

WRITER = """
import sys
from espnet_ctcrep.plans import ledger
for k in range(25):
    ledger.append(sys.argv[1], "launched", sys.argv[2], k, note="日本")
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'it\'s "exp"' / "ledger.jsonl"


@pytest.fixture
def three(path):
    """A ledger of three lines."""
    for k in range(3):
        ledger.append(path, "launched", "arm", k, seed=k)
    return path


def test_entries_come_back_in_order_with_their_fields(path):
    assert ledger.read(path) == []
    made = [
        ledger.append(path, "launched", "half-lr", 4, streams={"init": 1}),
        ledger.append(path, "finished", "half-lr", 4, cer={"jpn": 20.5, "eng": None}),
    ]
    assert ledger.read(path) == made
    assert [(e.seq, e.event, e.arm, e.replicate) for e in made] == [
        (1, "launched", "half-lr", 4),
        (2, "finished", "half-lr", 4),
    ]
    assert made[1].fields == {"cer": {"jpn": 20.5, "eng": None}}
    assert made[0].time.endswith("+00:00")


def test_each_line_holds_the_hash_of_the_one_before(three):
    lines = [json.loads(line) for line in three.read_text().splitlines()]
    assert [line["prev"] for line in lines] == ["0" * 64, lines[0]["hash"], lines[1]["hash"]]
    body = {k: v for k, v in lines[2].items() if k != "hash"}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    assert digest == lines[2]["hash"]


def test_four_processes_that_append_at_once_lose_nothing(path):
    path.parent.mkdir()
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abcd"]
    assert [w.wait(timeout=60) for w in writers] == [0, 0, 0, 0]
    entries = ledger.read(path)
    assert [e.seq for e in entries] == list(range(1, 101))
    for name in "abcd":
        assert [e.replicate for e in entries if e.arm == name] == list(range(25))


@pytest.mark.parametrize("change", ["edited", "removed", "moved", "not JSON", "emptied"])
def test_a_changed_line_is_named(three, change):
    lines = three.read_bytes().splitlines(keepends=True)
    changed = {
        "edited": [lines[0], lines[1].replace(b'"seed": 1', b'"seed": 9'), lines[2]],
        "removed": [lines[0], lines[2]],
        "moved": [lines[0], lines[2], lines[1]],
        "not JSON": [lines[0], b"{\n", lines[2]],
        "emptied": [lines[0], b"\n", lines[2]],
    }[change]
    assert changed != lines
    three.write_bytes(b"".join(changed))
    for use in (ledger.read, ledger.repair, lambda p: ledger.append(p, "failed", "arm", 0)):
        with pytest.raises(InputError, match=r"ledger\.jsonl:2: the ledger was changed here"):
            use(three)
    assert three.read_bytes() == b"".join(changed)


def test_a_line_rewritten_with_a_hash_of_its_own_breaks_the_chain(three):
    lines = three.read_text().splitlines()
    line = json.loads(lines[1])
    line["fields"] = {"seed": 9}
    body = {k: v for k, v in line.items() if k != "hash"}
    line["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    three.write_text("\n".join([lines[0], json.dumps(line), lines[2]]) + "\n")
    with pytest.raises(InputError, match=r"ledger\.jsonl:3: the ledger was changed here"):
        ledger.read(three)


@pytest.mark.parametrize("left", [1, 40, -1])
def test_a_line_cut_short_by_a_kill_is_named_and_repaired_by_the_next_append(three, left):
    raw = three.read_bytes()
    lines = raw.splitlines(keepends=True)
    torn = lines[2][:left]
    three.write_bytes(lines[0] + lines[1] + torn)
    with pytest.raises(InputError, match=r"ledger\.jsonl:3: the last line is half written"):
        ledger.read(three)
    ledger.append(three, "failed", "arm", 2)
    entries = ledger.read(three)
    assert [e.event for e in entries] == ["launched", "launched", "repaired", "failed"]
    assert entries[2].fields == {"bytes": len(torn)}
    assert three.with_name("ledger.jsonl.torn").read_bytes() == torn + b"\n"


def test_a_repair_alone_adds_a_line_only_where_one_is_torn(three):
    before = three.read_bytes()
    ledger.repair(three)
    ledger.repair(three.with_name("none.jsonl"))
    assert three.read_bytes() == before
    assert not three.with_name("none.jsonl").exists()
    three.write_bytes(before + b'{"seq"')
    ledger.repair(three)
    assert [e.event for e in ledger.read(three)] == ["launched"] * 3 + ["repaired"]


def test_an_unknown_event_cannot_be_written(path):
    with pytest.raises(ValueError, match="event='lanched' is none of"):
        ledger.append(path, "lanched", "arm", 0)
    assert not path.exists()
