"""The agent under test's surroundings: menu, loading, delivery, the loop, the policies."""

from yb_eval_agent_routing.agent.delivery import BYTE_LIMIT as BYTE_LIMIT
from yb_eval_agent_routing.agent.delivery import HARD_LIMIT as HARD_LIMIT
from yb_eval_agent_routing.agent.delivery import Budget as Budget
from yb_eval_agent_routing.agent.loop import Policy as Policy
from yb_eval_agent_routing.agent.loop import Settings as Settings
from yb_eval_agent_routing.agent.loop import run as run
from yb_eval_agent_routing.agent.menu import Menu as Menu
from yb_eval_agent_routing.agent.menu import render as render
from yb_eval_agent_routing.agent.offer import LOAD_TOOLS as LOAD_TOOLS
from yb_eval_agent_routing.agent.offer import SEARCH_TOOLS as SEARCH_TOOLS
from yb_eval_agent_routing.agent.offer import Offer as Offer
from yb_eval_agent_routing.agent.offers import Offers as Offers
from yb_eval_agent_routing.agent.trace import Trace as Trace
