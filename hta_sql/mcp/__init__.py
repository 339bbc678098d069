"""A server of the Model Context Protocol: assistants ask archives, and nothing else.

tools.py answers, in a process of its own that worker.py starts and ends; server.py speaks the
protocol.
"""
