"""A language model: an endpoint in this notebook answers as one would, and plays the Beer Game.

With a model of your own, leave out the server and give its address as `base_url`.
"""

import marimo

app = marimo.App()


@app.cell
def _():
    import json
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    import desim

    return BaseHTTPRequestHandler, ThreadingHTTPServer, desim, json, threading


@app.cell
def _(BaseHTTPRequestHandler, json):
    class Endpoint(BaseHTTPRequestHandler):
        """Chat completions that order 4 units, whatever the question is."""

        def do_POST(self):  # noqa: N802 (a name of http.server)
            """Answer a request."""
            self.rfile.read(int(self.headers["Content-Length"]))
            reply = {"role": "assistant", "content": '{"do": "order", "quantity": 4}'}
            usage = {"prompt_tokens": 200, "completion_tokens": 12}
            choice = {"index": 0, "finish_reason": "stop", "message": reply}
            body = json.dumps({"choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Print nothing."""

    return (Endpoint,)


@app.cell
def _(Endpoint, ThreadingHTTPServer, desim, threading):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = f"llm,model=stub,base_url=http://127.0.0.1:{server.server_port}/v1,mode=json"
    episode = desim.play("beer_game", model, seed=1)
    server.shutdown()
    server.server_close()
    episode
    return (episode,)


@app.cell
def _(episode):
    episode.summary()["usage"]
    return


if __name__ == "__main__":
    app.run()
