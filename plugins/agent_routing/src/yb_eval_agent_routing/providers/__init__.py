"""What plays the model: the BM25 baseline, a script, OpenAI's and Anthropic's APIs; and core's own targets."""

from yb_eval_agent_routing.providers.client import ModelOptions as ModelOptions
from yb_eval_agent_routing.providers.opening import REFERENCE as REFERENCE
from yb_eval_agent_routing.providers.opening import builtins as builtins
from yb_eval_agent_routing.providers.opening import from_environment as from_environment
from yb_eval_agent_routing.providers.opening import with_provider as with_provider
