"""The tables of the guards' pages are what the script that makes them prints."""

import importlib.util
import re
from pathlib import Path

from yb_eval_guards.peers import PEERS
from yb_eval_guards.suite import Options

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guards.md").read_text(encoding="utf-8")


def block(page, name):
    (found,) = re.findall(
        rf"<!-- {name}: made by scripts/guards_peers.py -->\n\n(.*?)\n\n<!-- end of {name} -->", page, re.DOTALL
    )
    return found


def test_our_numbers_are_those_of_the_detectors_as_they_are():
    spec = importlib.util.spec_from_file_location("guards_peers", ROOT / "scripts" / "guards_peers.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert block(PAGE, "our numbers") == script.own_tables(), "run scripts/guards_peers.py --write"


def test_the_table_beside_peers_names_every_peer_and_our_numbers():
    table = block((ROOT / "docs" / "guards-peers.md").read_text(encoding="utf-8"), "peers")
    assert [name for name in PEERS if f"| {name} |" not in table] == []
    (ours,) = re.findall(r"^\| own \| [\d,]+ \| deny \| (\S+ \[.*?\]) \| (\S+ \[.*?\]) \|", PAGE, re.MULTILINE)
    assert f"{ours[0]} / {ours[1]}" in table


def test_every_option_is_documented():
    from yb_eval.options import describe

    assert [info.name for info in describe(Options) if f"--{info.name}" not in PAGE] == []
