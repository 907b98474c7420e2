"""Long-lived processes as targets: what each way of misbehaving becomes."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from yb_eval.errors import UsageError
from yb_eval.interfaces import Target
from yb_eval.targets import Settings, open_target
from yb_eval.targets.process import ExecTarget

pytestmark = pytest.mark.skipif(os.name != "posix", reason="exec: needs a POSIX system")

Open = Callable[..., ExecTarget]

LOOP = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
"""


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0


@pytest.fixture(autouse=True)
def nothing_leaks() -> Iterator[None]:
    threads, files, processes = set(threading.enumerate()), descriptors(), children()
    yield
    assert set(threading.enumerate()) <= threads
    assert descriptors() <= files
    # Other tests may have left helpers of the interpreter (multiprocessing's resource tracker).
    assert children() <= processes


def children() -> set[str]:
    """The children of this process, zombies included."""
    return {pid for listed in Path("/proc/self/task").glob("*/children") for pid in listed.read_text().split()}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a target for a Python script whose body stands in a loop over the requests (or, with `whole`, for the
    script itself).
    """
    targets: list[ExecTarget] = []

    def open_(body: str, *, whole: bool = False, **settings: object) -> ExecTarget:
        script = textwrap.dedent(body) if whole else LOOP + textwrap.indent(textwrap.dedent(body), "    ")
        (tmp_path / "bot.py").write_text(script, encoding="utf-8")
        given = {"timeout": 20.0, "grace": 0.2, "base": tmp_path, **settings}
        target = open_target(f"exec:{sys.executable} bot.py", builtins={}, settings=Settings(**given))  # type: ignore[arg-type]
        assert isinstance(target, ExecTarget)
        targets.append(target)
        return target

    yield open_
    for target in targets:
        target.close()


def failure(target: Target, request: dict[str, object] | None = None) -> str:
    (answer,) = target.ask([request or {"id": "a"}])
    assert answer.value is None
    assert answer.failure is not None
    assert answer.failure.isprintable()
    assert len(answer.failure) <= 310
    return answer.failure


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A killed grandchild may wait to be reaped by init: a zombie runs no more.
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to be")


ECHO = "print(json.dumps({'id': request['id'], 'pid': os.getpid()}))"


def test_one_process_answers_all_requests_in_order(opened: Open) -> None:
    answers = opened(ECHO).ask([{"id": f"n{i}"} for i in range(20)])
    assert [answer.value["id"] for answer in answers] == [f"n{i}" for i in range(20)]
    assert len({answer.value["pid"] for answer in answers}) == 1
    assert all(answer.seconds is not None and answer.seconds >= 0 for answer in answers)


def test_requests_and_answers_are_utf8_in_any_locale(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    target = opened("print(json.dumps({'said': request['text']}, ensure_ascii=False))")
    (answer,) = target.ask([{"text": "привет 你好 \u2028\x85"}])
    assert answer.value == {"said": "привет 你好 \u2028\x85"}


def test_threads_get_processes_of_their_own_up_to_the_number_of_jobs(opened: Open) -> None:
    target = opened("time.sleep(0.02)\n" + ECHO, jobs=3)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda i: target.ask([{"id": i}])[0], range(40)))
    assert [answer.value["id"] for answer in answers] == list(range(40))
    assert 1 <= len({answer.value["pid"] for answer in answers}) <= 3


def test_a_crash_fails_its_request_only_and_says_how_it_ended(opened: Open) -> None:
    target = opened(
        """
        if request['id'] == 'bad':
            raise ValueError('no such tier')
        print(json.dumps({'id': request['id']}))
        """
    )
    good, bad, after = target.ask([{"id": "good"}, {"id": "bad"}, {"id": "after"}])
    assert good.value == {"id": "good"}
    assert bad.failure is not None
    assert bad.failure.startswith("exited with code 1 without an answer; its stderr ends: ")
    assert bad.failure.endswith("ValueError: no such tier")
    assert after.value == {"id": "after"}


def test_a_signal_is_named(opened: Open) -> None:
    assert "was killed by SIGSEGV" in failure(opened("os.kill(os.getpid(), 11)"))


def test_half_a_line_before_the_end_is_quoted(opened: Open) -> None:
    body = 'sys.stdout.write(\'{"tier": "lo\'); sys.stdout.flush(); os._exit(7)'
    assert failure(opened(body)) == 'exited with code 7 after half a line: \'{"tier": "lo\''


def test_a_hang_is_ended_and_the_next_request_answered(opened: Open) -> None:
    body = "time.sleep(3600) if request['id'] == 'slow' else None\n" + ECHO
    target = opened(body, timeout=1.5)
    assert failure(target, {"id": "slow"}) == "no answer within 1.5 s"
    assert target.ask([{"id": "next"}])[0].value["id"] == "next"


def test_half_a_line_before_a_hang_is_quoted(opened: Open) -> None:
    body = "sys.stdout.write('{\"tier\"'); sys.stdout.flush(); time.sleep(3600)"
    assert failure(opened(body, timeout=1.5)) == "no answer within 1.5 s; half a line came: '{\"tier\"'"


def test_a_hang_takes_the_whole_process_group_with_it(opened: Open, tmp_path: Path) -> None:
    body = """
        import subprocess
        child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])
        open('pid.tmp', 'w').write(str(child.pid)); os.rename('pid.tmp', 'pid')
        time.sleep(3600)
        """
    assert "no answer within" in failure(opened(body, timeout=1.5))
    pid = int((tmp_path / "pid").read_text(encoding="ascii"))
    wait_until(lambda: not alive(pid))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("hello", "the answer is not JSON (unexpected character, expected a JSON value at column 1): 'hello'"),
        ("", "the answer is not JSON (Input is a zero-length, empty document at column 1): nothing"),
        ('{"score": NaN}', "'{\"score\": NaN}'"),
        ('{"score": 1e999}', "number is infinity"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
        ('{"id": "zzz"}', "the answer is for the id 'zzz', the request has 'a'"),
        ("\\x1b[2J", "\\x1b[2J"),
    ],
)
def test_a_line_that_is_no_answer_is_quoted(opened: Open, said: str, told: str) -> None:
    assert told in failure(opened(f"print({said!r})" if "\\x" not in said else f"print('{said}')"))


def test_bytes_that_are_not_utf8_are_quoted(opened: Open) -> None:
    told = failure(opened("sys.stdout.buffer.write(b'\"\\xff\"\\n'); sys.stdout.buffer.flush()"))
    assert "not valid UTF-8" in told


def test_a_bad_answer_leaves_its_process_running(opened: Open) -> None:
    target = opened("print('{\"score\": NaN}' if request['id'] == 'bad' else json.dumps(os.getpid()))")
    before, bad, after = target.ask([{"id": "1"}, {"id": "bad"}, {"id": "2"}])
    assert bad.failure is not None
    assert before.value == after.value


def test_a_print_between_answers_cannot_shift_them(opened: Open) -> None:
    target = opened(
        """
        if request['id'] == 1:
            print('debug: thinking')
        print(json.dumps({'n': request['id']}))
        """
    )
    answers = target.ask([{"id": n} for n in range(4)])
    assert [answer.value for answer in answers] == [{"n": 0}, None, {"n": 2}, {"n": 3}]
    assert "debug: thinking" in (answers[1].failure or "")


def test_two_answers_to_one_request_are_not_an_answer(opened: Open) -> None:
    target = opened('sys.stdout.write(\'{"n": 1}\\n{"n": 2}\\n\'); sys.stdout.flush()')
    assert failure(target) == 'answered more than one line: \'{"n": 1}\\n{"n": 2}\\n\''


def test_output_nobody_asked_for_is_noticed_at_the_next_request(opened: Open, tmp_path: Path) -> None:
    target = opened(
        """
        print(json.dumps({'n': request['id']}))
        if request['id'] == 1:
            time.sleep(0.2)
            print('{"n": 2}')
            open('done', 'w').close()
        """
    )
    assert target.ask([{"id": 1}])[0].value == {"n": 1}
    wait_until((tmp_path / "done").exists)
    assert failure(target, {"id": 2}) == "said '{\"n\": 2}\\n' without being asked, so its answers may be out of step"
    assert target.ask([{"id": 3}])[0].value == {"n": 3}


def test_an_answer_before_the_request_was_read_is_not_its_answer(opened: Open) -> None:
    target = opened("print('{}', flush=True)\nimport time; time.sleep(3600)", whole=True)
    told = failure(target, {"text": "x" * 5_000_000})
    assert told.startswith(("answered '{}\\n' before it had read the request", "said '{}\\n' without being"))


def test_an_answer_in_small_pieces_is_put_together(opened: Open) -> None:
    body = """
        for piece in ('{"te', 'xt": "\\u00e9', '"', '}', '\\r\\n'):
            sys.stdout.buffer.write(piece.encode()); sys.stdout.buffer.flush(); time.sleep(0.01)
        """
    assert opened(body).ask([{"id": 1}])[0].value == {"text": "é"}


def test_large_requests_and_answers_pass_at_the_same_time(opened: Open) -> None:
    # The process answers while it still reads: with one side waiting for the other neither would ever end.
    body = """
        import sys
        while True:
            chunk = sys.stdin.buffer.read1(65536)
            if not chunk:
                break
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        """
    text = "x" * 50_000_000
    (answer,) = opened(body, whole=True).ask([{"text": text}])
    assert answer.failure is None
    assert answer.value["text"] == text


def test_an_answer_beyond_the_limit_is_cut_off(opened: Open) -> None:
    told = failure(opened("sys.stdout.write('[' + '1,' * 10_000_000)", answer_limit=1 << 20))
    assert told.startswith("answered more than 1,048,576 bytes: '[1,1,")


def test_a_flood_on_stderr_neither_stops_the_process_nor_is_kept_whole(opened: Open) -> None:
    target = opened("sys.stderr.write('noise ' * 200_000 + 'END\\n'); sys.stderr.flush()\n" + ECHO)
    assert target.ask([{"id": "a"}, {"id": "b"}])[1].value["id"] == "b"
    wait_until(lambda: target.stderr().endswith("END\n"))
    assert len(target.stderr()) <= 64 << 10


def test_a_flood_on_stderr_between_requests_does_not_stop_the_process(opened: Open) -> None:
    target = opened(ECHO + "\nsys.stderr.write('noise ' * 200_000); sys.stderr.flush()")
    for n in range(3):
        assert target.ask([{"id": n}])[0].value["id"] == n


def test_secrets_do_not_come_back_by_stderr_or_answers(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_API_KEY", "sk-very-secret")
    target = opened(
        """
        if request['id'] == 1:
            print(json.dumps(os.environ['BOT_API_KEY'] + '!'))
        else:
            sys.exit('cannot log in with ' + os.environ['BOT_API_KEY'])
        """
    )
    first, second = target.ask([{"id": 1}, {"id": 2}])
    assert first.value == "***!"
    assert "cannot log in with ***" in (second.failure or "")


def test_a_process_that_leaves_between_requests_is_replaced_silently(opened: Open) -> None:
    target = opened(ECHO + "\nsys.exit(0)")
    answers = target.ask([{"id": n} for n in range(4)])
    assert [answer.failure for answer in answers] == [None] * 4
    assert len({answer.value["pid"] for answer in answers}) == 4


def test_a_crash_between_two_requests_fails_the_second_however_late_it_is_asked(opened: Open, tmp_path: Path) -> None:
    target = opened(ECHO + "\nopen('done', 'w').close(); os._exit(4)")
    assert target.ask([{"id": "a"}])[0].value["id"] == "a"
    wait_until((tmp_path / "done").exists)
    time.sleep(0.1)
    assert failure(target, {"id": "b"}) == "exited with code 4 without an answer"
    assert target.ask([{"id": "c"}])[0].value["id"] == "c"


def test_a_process_that_leaves_without_ever_answering_is_a_failure(opened: Open) -> None:
    assert failure(opened("sys.exit(0)")) == "exited with code 0 without an answer"


def test_a_command_that_never_answers_is_given_up(opened: Open, tmp_path: Path) -> None:
    target = opened("open('starts', 'a').write('x'); sys.exit(3)", whole=False, restarts=2)
    told = [answer.failure or "" for answer in target.ask([{"id": n} for n in range(6)])]
    assert all(text.startswith("exited with code 3") for text in told[:3])
    assert all(text.startswith("given up: 3 processes in a row") for text in told[3:])
    assert len((tmp_path / "starts").read_text(encoding="ascii")) == 3


def test_a_stdout_closed_early_is_a_failure_not_a_hang(opened: Open) -> None:
    told = failure(opened("os.close(1); time.sleep(3600)"))
    assert told == "closed its stdout without an answer"


def test_a_grandchild_that_keeps_stdout_open_does_not_hide_the_crash(opened: Open, tmp_path: Path) -> None:
    body = """
        import subprocess
        child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'], start_new_session=True)
        open('pid', 'w').write(str(child.pid))
        os._exit(9)
        """
    try:
        assert "exited with code 9" in failure(opened(body))
    finally:
        os.kill(int((tmp_path / "pid").read_text(encoding="ascii")), signal.SIGKILL)


def test_closing_wakes_a_thread_that_waits_for_an_answer(opened: Open, tmp_path: Path) -> None:
    target = opened("open('asked', 'w').close(); time.sleep(3600)")
    told: list[str] = []
    waiting = threading.Thread(target=lambda: told.append(failure(target)))
    waiting.start()
    wait_until((tmp_path / "asked").exists)
    target.close()
    waiting.join(10)
    assert told == ["was killed by SIGKILL without an answer"]
    assert failure(target) == "the target was closed"


def test_closing_lets_a_well_behaved_process_finish_its_work(opened: Open, tmp_path: Path) -> None:
    target = opened(LOOP + "    print('{}', flush=True)\nopen('flushed', 'w').close()", whole=True, grace=10.0)
    target.ask([{"id": 1}])
    target.close()
    assert (tmp_path / "flushed").exists()


def test_closing_ends_a_process_that_ignores_everything(opened: Open) -> None:
    body = """
        import os, signal, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.stdin.readline()
        print(os.getpid(), flush=True)
        time.sleep(3600)
        """
    target = opened(body, whole=True, grace=0.05)
    pid = target.ask([{"id": 1}])[0].value
    target.close()
    target.close()
    assert not alive(pid)


def test_an_interrupt_leaves_no_process_behind(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    target = opened(ECHO)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("yb_eval.targets.process.decode", interrupt)
    with pytest.raises(KeyboardInterrupt):
        target.ask([{"id": 1}])


def test_a_request_that_is_not_json_never_reaches_the_process(opened: Open) -> None:
    assert "the request is not JSON" in failure(opened(ECHO), {"id": float("nan")})


def test_the_fingerprint_follows_the_command_and_the_bytes_of_its_files(tmp_path: Path) -> None:
    def fingerprint(command: str) -> str:
        return open_target(f"exec:{command}", builtins={}, settings=Settings(base=tmp_path)).fingerprint

    (tmp_path / "bot.py").write_text("1", encoding="utf-8")
    (tmp_path / "bot.toml").write_text("1", encoding="utf-8")
    command = f"{sys.executable} bot.py --config=bot.toml"
    first = fingerprint(command)
    assert fingerprint(command) == first
    assert fingerprint(command.replace("bot.py", str(tmp_path / "bot.py"))) == first
    assert fingerprint(command + " -v") != first
    (tmp_path / "bot.toml").write_text("2", encoding="utf-8")
    second = fingerprint(command)
    assert second != first
    (tmp_path / "bot.py").write_text("2", encoding="utf-8")
    assert fingerprint(command) not in (first, second)


@pytest.mark.parametrize("base", [".", "sub"])
def test_a_program_is_found_from_a_folder_that_is_not_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / base / "bot"
    program.parent.mkdir(exist_ok=True)
    program.write_text('#!/bin/sh\nread line && echo \'{"said": "yes"}\'\n', encoding="utf-8")
    program.chmod(0o755)
    target = open_target("exec:./bot", builtins={}, settings=Settings(base=Path(base)))
    try:
        (answer,) = target.ask([{}])
    finally:
        target.close()
    assert answer.value == {"said": "yes"}


def test_a_program_in_the_working_folder_is_identified_by_its_bytes(tmp_path: Path) -> None:
    def fingerprint() -> str:
        program.chmod(0o755)
        return open_target("exec:./bot", builtins={}, settings=Settings(base=tmp_path)).fingerprint

    program = tmp_path / "bot"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    first = fingerprint()
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert fingerprint() != first


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "exec: names no command"),
        ("'open", "cannot be split"),
        ("no-such-command-anywhere --x", "there is no command 'no-such-command-anywhere'"),
        ("bot.sh", r"\./bot\.sh, for the file in the working folder"),
        ("./bot.sh", r"chmod \+x \./bot\.sh"),
    ],
)
def test_a_command_that_cannot_run_is_refused_when_opened(tmp_path: Path, command: str, told: str) -> None:
    (tmp_path / "bot.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        open_target(f"exec:{command}", builtins={}, settings=Settings(base=tmp_path))


def test_a_program_that_the_system_cannot_run_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "bot").write_bytes(b"\x7fELF not really")
    (tmp_path / "bot").chmod(0o755)
    target = open_target("exec:./bot", builtins={}, settings=Settings(base=tmp_path, restarts=1))
    assert failure(target).startswith("the process cannot be started: OSError: ")
    assert failure(target).startswith("the process cannot be started: OSError: ")
    assert failure(target).startswith("given up: 2 processes")
    target.close()


def test_no_shell_reads_the_command(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "import sys, json\nfor l in sys.stdin: print(json.dumps(sys.argv[1:]))", encoding="utf-8"
    )
    command = f"exec:{sys.executable} bot.py '$HOME' '`id`' 'a b' ';' '|'"
    target = open_target(command, builtins={}, settings=Settings(base=tmp_path, grace=0.2))
    assert target.ask([{}])[0].value == ["$HOME", "`id`", "a b", ";", "|"]
    target.close()
