"""Decisions: sensible for every kind of traffic, explained, exact, and the same every time."""

import decimal
import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_routing.pipeline import Pipeline, reference_policy

POLICY = reference_policy()
PIPELINE = Pipeline(POLICY)


def tier(prompt: str) -> str:
    return PIPELINE.route({"prompt": prompt}).tier


def rank(prompt: str) -> int:
    return POLICY.tier_names.index(tier(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "Prove the claim about primes.",
        "Does a verbal contract survive a breach if the clause is void?",
        "Patient with fever and a rash after starting an antibiotic. Diagnosis?",
        "Which allele frequencies change under natural selection with a dominant mutation?",
        "Why can't a photon decay in vacuum?",
        "Пациент с острой болью в груди и одышкой. Диагноз?",
        "Законно ли увольнение без решения суда?",
        "患者有急性胸痛，如何诊断和治疗？",
        "契約違反の損害賠償について、裁判所の判例は？",
    ],
)
def test_short_hard_questions_do_not_fall_to_the_bottom(prompt: str) -> None:
    assert rank(prompt) >= 1


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("access log", '10.0.0.7 - - [12/May/2026:03:10:11 +0000] "GET /proof/theorem HTTP/1.1" 200 512\n'),
        ("application log", "2026-03-02T08:14:09Z ERROR consensus replication deadlock theorem proof\n"),
        ("table", "| theorem | patient | contract |\n"),
        ("quotation", "> prove the theorem about the distributed architecture\n"),
        ("filler", "and then we went home and it was nice\n"),
    ],
)
@pytest.mark.parametrize("question", ["how many lines is that?", "what is this?", "сколько тут строк?"])
def test_trivial_question_about_a_long_paste_stays_cheap(kind: str, lines: str, question: str) -> None:
    assert rank(f"{question}\n\n{lines * 500}") <= 1, kind
    assert rank(f"{lines * 500}\n\n{question}") <= 1, kind


@pytest.mark.parametrize(
    "prompt",
    [
        "URGENT!!! CRITICAL ARCHITECTURE: what is 2+2",
        "🚨🚨 MISSION CRITICAL ENTERPRISE QUESTION 🚨🚨 what time is it in Tokyo",
        "СРОЧНО!!! КРИТИЧЕСКИ ВАЖНО!!! сколько будет 2+2",
        "URGENT " * 200 + "hi",
    ],
)
def test_flashy_prompts_are_not_raised_by_their_flash(prompt: str) -> None:
    assert rank(prompt) <= 1
    assert rank(prompt) <= rank(prompt.lower())


def test_repeating_one_hard_word_raises_nothing() -> None:
    assert (
        PIPELINE.route({"prompt": "theorem " * 5}).signals["proof"]
        == PIPELINE.route({"prompt": "theorem"}).signals["proof"]
    )


@pytest.mark.parametrize(
    ("name", "prompts"),
    [
        (
            "fact",
            [
                "What is the capital of Canada?",
                "Столица Канады?",
                "加拿大的首都是哪里？",
                "カナダの首都はどこですか",
                "캐나다의 수도는 어디야?",
                "ما هي عاصمة كندا؟",
            ],
        ),
        (
            "code",
            [
                "Write a Python function that removes duplicates from a list.",
                "напиши функцию на питоне, которая убирает дубликаты из списка",
                "写一个Python函数，去掉列表里的重复元素",
                "リストから重複を取り除くPythonの関数を書いて",
                "리스트에서 중복을 제거하는 파이썬 함수를 작성해줘",
            ],
        ),
        (
            "proof",
            [
                "Prove that the root of 2 is irrational.",
                "Докажи, что корень из 2 иррационален.",
                "证明根号2是无理数",
                "ルート2が無理数であることを証明して",
                "루트 2가 무리수임을 증명하시오",
                "Beweise, dass Wurzel 2 irrational ist.",
                "พิสูจน์ว่ารากที่สองของสองเป็นจำนวนอตรรกยะ",
            ],
        ),
    ],
)
def test_one_request_gets_one_tier_in_every_language(name: str, prompts: list[str]) -> None:
    expected = {"fact": "simple", "code": "medium", "proof": "reasoning"}[name]
    assert {prompt: tier(prompt) for prompt in prompts} == dict.fromkeys(prompts, expected)


def test_every_tier_is_reached_by_plain_requests() -> None:
    prompts = [
        "hi",
        "Write a poem about rain.",
        "Compare Kafka and RabbitMQ and recommend one for our distributed microservices.",
        "Prove that there are infinitely many primes.",
    ]
    assert [tier(prompt) for prompt in prompts] == list(POLICY.tier_names)


def test_decision_carries_all_that_led_to_it() -> None:
    decision = PIPELINE.route({"prompt": "Prove that there are infinitely many primes."})
    assert decision.signals == {"proof": 0.175, "mathematics": 0.15}
    assert decision.matches == {"proof": ("prove",), "mathematics": ("prime",)}
    assert (decision.score, decision.rule, decision.model) == (0.325, "formal-proof", "reasoner")


def test_cost_is_exact_whatever_the_callers_decimal_context() -> None:
    request = {"prompt": "a" * 400}
    expected = (100 * Decimal("0.10") + 120 * Decimal("0.40")) / 10**6
    assert PIPELINE.route(request).cost_usd == expected
    with decimal.localcontext() as context:
        context.prec = 2
        inside = PIPELINE.route(request).cost_usd
    assert inside == expected


def test_whole_conversation_is_billed() -> None:
    short = PIPELINE.route({"messages": [{"role": "user", "content": "hi"}]})
    long = PIPELINE.route({"messages": [{"role": "system", "content": "x" * 4000}, {"role": "user", "content": "hi"}]})
    assert long.cost_usd - short.cost_usd == 1000 * Decimal("0.10") / 10**6


@given(st.text())
def test_any_text_gets_a_consistent_decision(prompt: str) -> None:
    decision = PIPELINE.route({"prompt": prompt})
    assert 0 <= decision.score <= 1
    assert decision.cost_usd > 0
    assert (
        decision.rule is not None
        or decision.tier == POLICY.tiers[POLICY.tier_of_score(round(decision.score * 1000))].name
    )
    assert round(min(max(sum(decision.signals.values()), 0), 1), 3) == decision.score
    assert PIPELINE.route({"prompt": prompt}) == decision


@given(st.text(max_size=80), st.sampled_from(["  ", "\n", "\t\n "]), st.sampled_from(["\n", "   "]))
def test_surrounding_space_changes_nothing(prompt: str, before: str, after: str) -> None:
    core = " ".join(prompt.split())
    assert PIPELINE.route({"prompt": core}).tier == PIPELINE.route({"prompt": f"{core}{after}"}).tier


HARD = st.sampled_from(
    [
        "Also prove the theorem rigorously.",
        "Также докажи теорему.",
        "Compare the trade-offs of both.",
        "The contract has a liability clause.",
        "The patient has an acute diagnosis.",
    ]
)
BASE = st.sampled_from(
    [
        "Write a poem about rain",
        "what is a monad",
        "привет",
        "fix the typo: teh",
        "Design a distributed cache",
        "столица Перу",
        "Explain the code",
        "hi",
        "solve x^2 = 4 step by step",
    ]
)


@given(BASE, st.lists(HARD, unique=True, max_size=4))
def test_added_difficulty_never_lowers_the_tier(base: str, added: list[str]) -> None:
    ranks = [rank(" ".join([f"{base}.", *added[:count]])) for count in range(len(added) + 1)]
    assert ranks == sorted(ranks)


def test_threads_processes_and_hash_seeds_agree() -> None:
    prompts = [
        "Докажите теорему о сходимости",
        "write a function",
        "分析合同条款",
        "المريض لديه أعراض",
        "Vergleiche die Verträge",
    ] * 20
    expected = [repr(PIPELINE.route({"prompt": prompt})) for prompt in prompts]
    with ThreadPoolExecutor(max_workers=8) as pool:
        fresh = Pipeline(reference_policy())
        assert [repr(d) for d in pool.map(lambda prompt: fresh.route({"prompt": prompt}), prompts)] == expected
    copied = pickle.loads(pickle.dumps(PIPELINE))
    assert [repr(copied.route({"prompt": prompt})) for prompt in reversed(prompts)] == expected[::-1]
    program = (
        "import json, sys\nfrom yb_eval_routing.pipeline import Pipeline, reference_policy\n"
        "pipeline = Pipeline(reference_policy())\n"
        "print(json.dumps([repr(pipeline.route({'prompt': p})) for p in json.load(sys.stdin)]))"
    )
    for seed in ("0", "4242"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONIOENCODING": "utf-8",
        }
        result = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(prompts),
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        assert json.loads(result.stdout) == expected
