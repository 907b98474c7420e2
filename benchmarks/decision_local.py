"""One run of benchmarks/decision.py with the backend `local`: FILE. Prints questions, those answered, and CPU seconds."""

import sys
import time

import orjson

from yb_eval_decision.agent import Grounded
from yb_eval_decision.assessing import Batch
from yb_eval_decision.backends.local import LocalBackend
from yb_eval_decision.quality import AnswerRelevancy, Refusal
from yb_eval_decision.security import IndirectInjection, Jailbreak, PromptInjection

backend = LocalBackend()
# The evals whose questions are tasks that it knows, without the question whether there is enough to tell.
evals = [
    Grounded(), AnswerRelevancy(), Refusal(), IndirectInjection(insufficient=False),
    PromptInjection(insufficient=False), Jailbreak(insufficient=False),
]  # fmt: skip
with open(sys.argv[1], "rb") as file:
    requests = Batch([orjson.loads(line) for line in file], evals, backend).requests
backend.decide(requests[:10])
questions = answered = 0
began = time.process_time()
for first in range(0, len(requests), backend.batch):
    for response in backend.decide(requests[first : first + backend.batch]):
        questions += len(response.answers)
        answered += sum(answer.type != "none" for answer in response.answers.values())
print(questions, answered, time.process_time() - began)
