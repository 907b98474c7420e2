"""yb-eval's suite for agents that load their MCP tools: does the model load the right ones?"""
