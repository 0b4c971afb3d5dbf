#!/usr/bin/env python3
"""bench/stream_delay.py BINARIES: the delay that assay adds between a provider's byte and its client's event.

A provider of its own streams the time of each delta as the delta's text; a client on the chat's stream reads it. Both are
this process, so one clock serves. Starts `BINARIES/assay serve` on a private database in a temporary folder.
"""
import http.client
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

DELTAS = 2000
PAUSE_S = 0.005


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    may_answer = threading.Event()

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.may_answer.wait(30)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(DELTAS):
            time.sleep(PAUSE_S)
            self.event({"choices": [{"index": 0, "delta": {"content": f"<{time.monotonic_ns()}>"}}]})
        try:
            self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # whoever has all the deltas may have left

    def event(self, chunk):
        data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


def delays_of(host, method, path, headers, body=None):
    """Reads DELTAS times from a stream, in whatever strings of its events they stand."""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    Provider.may_answer.set()
    delays, rest = [], ""
    while len(delays) < DELTAS:
        line = response.readline()
        now = time.monotonic_ns()
        if not line:
            break
        if not line.startswith(b"data:"):
            continue
        rest += "".join(texts_of(json.loads(line[5:])))
        while ">" in rest:
            sent, rest = rest.split(">", 1)
            delays.append((now - int(sent.lstrip("<"))) / 1e6)
    if len(delays) < DELTAS:
        sys.exit(f"only {len(delays)} of {DELTAS} deltas arrived")
    return sorted(delays)


def report(what, delays):
    at = {p: delays[min(len(delays) - 1, int(len(delays) * p / 100))] for p in (50, 90, 99, 99.9)}
    print(f"{what}: {len(delays)} deltas, one each {PAUSE_S * 1000:.0f} ms: " +
          ", ".join(f"p{p:g} {ms:.2f} ms" for p, ms in at.items()) + f", max {delays[-1]:.2f} ms", flush=True)


def texts_of(value):
    """The provider's texts, wherever the event holds them."""
    if isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, str) and value.startswith("<"):
        yield value


def main():
    assay = os.path.join(os.path.abspath(sys.argv[1]), "assay")
    provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        environment = dict(os.environ, ASSAY_DATA_DIR=folder + "/data", ASSAY_ADDRESS="127.0.0.1:18970",
                           ASSAY_PROVIDER_URL=f"http://127.0.0.1:{provider.server_port}/v1", ASSAY_PROVIDER_MODEL="m")
        host = environment["ASSAY_ADDRESS"]
        with open(folder + "/log", "wb") as log:
            server = subprocess.Popen([assay, "serve"], env=environment, stdout=log, stderr=log)
        try:
            wait_until_ready(host, server)
            token = subprocess.run([assay, "token", "create", "--user", "bench"], env=environment, check=True,
                                   capture_output=True, text=True).stdout.strip().splitlines()[-1]
            chat = create_chat(host, token)
            headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
            through = delays_of(host, "GET", f"/api/v2/chats/{chat}/stream", headers)
        finally:
            server.terminate()
            server.wait(30)
    direct = delays_of(f"127.0.0.1:{provider.server_port}", "POST", "/", {}, "{}")
    report("the provider alone", direct)
    report("through assay     ", through)


def wait_until_ready(host, server):
    for _ in range(600):
        if server.poll() is not None:
            sys.exit("the server ended before it was ready")
        try:
            connection = http.client.HTTPConnection(host, timeout=2)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("the server is not ready")


def create_chat(host, token):
    connection = http.client.HTTPConnection(host, timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("GET", "/api/v2/users/me", headers=headers)
    organization = json.loads(connection.getresponse().read())["organization_ids"][0]
    body = {"organization_id": organization, "content": [{"type": "text", "text": "go"}]}
    connection.request("POST", "/api/v2/chats", json.dumps(body), headers)
    return json.loads(connection.getresponse().read())["id"]


main()
