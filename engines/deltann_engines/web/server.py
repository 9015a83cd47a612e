"""Serves one page, its modules and its tensors on the loopback interface, behind a path that nobody can guess."""

from __future__ import annotations

import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from deltann.installed import modules

_TYPES = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
_HERE = Path(__file__).parent


class PageServer:
    """What the page asks for. ``model`` and ``input`` are given to it; ``output`` is what it sent last."""

    def __init__(self) -> None:
        self.model: Path | None = None
        self.input = b""
        self.output = b""
        self.served: set[str] = set()
        prefix = f"/{secrets.token_urlsafe(16)}/"
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = server._find(self.path.removeprefix(prefix)) if self.path.startswith(prefix) else None
                self._answer(404 if body is None else 200, body or b"")

            def do_POST(self) -> None:
                known = self.path == prefix + "output"
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if known:
                    server.output = body
                self._answer(204 if known else 404, b"")

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", _TYPES.get(Path(self.path).suffix, "application/octet-stream"))
                self.send_header("Content-Length", str(len(body)))
                # Isolated from other origins, a page has shared memory, which threads need, and a finer clock.
                self.send_header("Cross-Origin-Opener-Policy", "same-origin")
                self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Requests are not worth a line each."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}{prefix}page.html"

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()

    def _find(self, name: str) -> bytes | None:
        self.served.add(name)
        if name == "input":
            return self.input
        if name == "model":
            return self.model.read_bytes() if self.model else None
        root, inside = (modules(), name.removeprefix("modules/")) if name.startswith("modules/") else (_HERE, name)
        path = (root / inside).resolve()
        return path.read_bytes() if path.is_relative_to(root.resolve()) and path.is_file() else None
