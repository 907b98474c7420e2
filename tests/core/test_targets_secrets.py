"""What is kept out of everything that is shown or written."""

from __future__ import annotations

import pytest

from yb_eval.targets.failures import clip, failed, quoted
from yb_eval.targets.secrets import Masker, environment_secrets, mask, mask_command, secret_name


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "PGPASSWORD",
        "SECRET_KEY_BASE",
        "apikey",
        "db-password",
        "AWS_SECRET_ACCESS_KEY",
        "KEY1",
    ],
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert secret_name(name)


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "KEYBOARD", "HOME", "PATH", "SECRETARY"])
def test_names_that_only_look_like_it_are_not(name: str) -> None:
    assert not secret_name(name)


def test_secrets_of_the_environment_are_masked_in_text_urls_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", 'sk-1/2"3\\4')
    shown = mask(r'plain sk-1/2"3\4, in a URL sk-1%2F2%223%5C4, in JSON "sk-1/2\"3\\4"')
    assert "sk-1" not in shown
    assert shown.count("***") == 3


def test_a_longer_secret_is_masked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "abcdef")
    monkeypatch.setenv("B_TOKEN", "abcdefghij")
    assert mask("<abcdefghij>") == "<***>"


def test_ordinary_words_and_small_numbers_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_TOKENS", "4096")
    monkeypatch.setenv("POSTGRES_PASSWORD", "postgres")
    assert mask("4096 postgres") == "4096 postgres"


def test_passwords_in_urls_are_masked_wherever_they_come_from() -> None:
    assert mask("see https://bob:hunter2@host.test/x") == "see https://***@host.test/x"
    assert "correct-horse" in set(environment_secrets({"DATABASE_URL": "postgres://app:correct-horse@db/x"}))


def test_values_of_the_http_headers_variable_are_secrets() -> None:
    found = set(
        environment_secrets({"YB_EVAL_HTTP_HEADERS": '{"X-Key": "abc-def", "Authorization": "Bearer xyz-123"}'})
    )
    assert {"abc-def", "Bearer xyz-123", "xyz-123"} <= found


def test_values_are_masked_at_any_depth_and_untouched_where_there_is_nothing_to_hide() -> None:
    masker = Masker(["topsecretvalue"])
    value = {"a": ["x topsecretvalue y", 1, None], "topsecretvalue": True}
    assert masker.mask_value(value) == {"a": ["x *** y", 1, None], "***": True}
    assert Masker().mask_value(value) is value


def test_secrets_in_a_command_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "tok-en-value")
    command = ["bot", "--api-key", "k1", "--token=t1", "PASSWORD=p1", "--verbose", "tok-en-value", "--key", "--next"]
    assert mask_command(command) == [
        "bot", "--api-key", "***", "--token=***", "PASSWORD=***", "--verbose", "***", "--key", "--next",
    ]  # fmt: skip


def test_a_failure_is_one_printable_line_without_addresses_or_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_SECRET", "s3cr3t-value")
    text = failed(ValueError("bad\x1b[31m s3cr3t-value in <A object at 0x7f00deadbeef>\nsecond line"))
    assert text == "ValueError: bad\\x1b[31m *** in <A object>"
    assert failed(KeyError()) == "KeyError"
    assert len(failed(ValueError("x" * 10_000))) <= 300


def test_an_exception_whose_message_raises_still_has_a_name() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert failed(Odd()) == "Odd"


def test_half_a_secret_at_the_cut_is_not_quoted() -> None:
    masker = Masker(["abcdefghijklmnop"])
    shown = quoted(b"x" * 74 + b"abcdefghijklmnop" + b"y" * 500, masker)
    assert "abc" not in shown
    assert shown.endswith("(590 bytes)")
    assert quoted(b"", masker) == "nothing"
    assert quoted(b"\xff\x00", masker) == r"'\\xff\x00'"


def test_clipping_keeps_a_line_short() -> None:
    assert clip("a\nb") == "a\\nb"
    assert len(clip("\n" * 1000)) <= 300
