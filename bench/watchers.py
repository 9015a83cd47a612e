"""So many clients watch a sweep over a gateway until it ends: usage: watchers.py HOST:PORT SWEEP CLIENTS."""

from __future__ import annotations

import sys
import threading
import time

from deltann.client import GatewayClient
from deltann.errors import DeltannError, NotFoundError


def watch(address: str, sid: str) -> None:
    with GatewayClient(address) as client:
        while True:
            try:
                for _ in client.watch(sid):
                    pass
            except NotFoundError:
                time.sleep(0.2)  # it is not submitted yet
            except DeltannError:
                return  # the gateway went down with the measurement
            else:
                return


def main() -> None:
    address, sid, clients = sys.argv[1:]
    for _ in range(600):
        try:
            with GatewayClient(address) as client:
                client.list_sweeps()
            break
        except DeltannError:
            time.sleep(0.1)
    threads = [threading.Thread(target=watch, args=(address, sid)) for _ in range(int(clients))]
    for thread in threads:
        thread.start()
    print("watching", flush=True)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
