"""The parameters and results of each job kind, as the plan writes and the services read them.

The registry of kinds is open: a service brings its own through :class:`deltann.service.Service`.
"""
