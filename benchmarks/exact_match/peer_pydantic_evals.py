"""The same rows through pydantic-evals."""

import asyncio
import sys

import orjson
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

with open(sys.argv[1], "rb") as rows:
    cases = [
        Case(name=row["id"], inputs=row["input"], expected_output=row["expected"]) for row in map(orjson.loads, rows)
    ]


async def answer(text: str) -> str:
    return text


dataset = Dataset(name="exact-match", cases=cases, evaluators=[EqualsExpected()])
report = asyncio.run(dataset.evaluate(answer, progress=False))
print(report.averages().assertions)
