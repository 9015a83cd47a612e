"""HTTP to this machine, past every proxy that the environment names."""

import urllib.request

# urllib's own opener keeps, for the whole process, the proxy that was set when it was first used.
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))
