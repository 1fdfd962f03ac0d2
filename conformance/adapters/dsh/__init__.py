"""The published npm package ``@deepseek-ai/dsh-session`` as an implementation under test."""
