"""Print each alert that Alertmanager sends, one line each: an example of a receiver."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Takes Alertmanager's webhook."""

    def do_POST(self) -> None:
        """Print what came."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        for alert in json.loads(body)["alerts"]:
            print(alert["status"], alert["annotations"].get("summary", ""), alert["labels"])
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


if __name__ == "__main__":
    ThreadingHTTPServer(("", 9095), Handler).serve_forever()
