"""How implementations are reached: in this process, or over a pipe."""
