"""Programs that show a finding by themselves. They are copied, as ``reproduce.py``, beside what they read."""
