"""moto's S3 behind a proxy that counts, and that is slow, failing or full on demand."""
import contextlib, http.client, http.server, os, random, shutil, socket, subprocess, sys, threading, time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class S3:
    """A bucket `lab`; `slow` in seconds a request, `failing` a share of requests, `full` refuses writes."""

    def __init__(self, seed=1):
        self.slow, self.failing, self.full = 0.0, 0.0, False
        self.requests = self.read = self.failed = 0
        self.random, self.lock, self.alone = random.Random(seed), threading.Lock(), threading.Lock()
        port = free_port()
        server = shutil.which("moto_server") or os.path.join(os.path.dirname(sys.executable), "moto_server")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.moto = subprocess.Popen([server, "-H", "127.0.0.1", "-p", str(port)], **quiet)
        self.behind = port
        for _ in range(300):
            try:
                if self.ask("PUT", "/lab", b"", {})[0] == 200:
                    break
            except OSError:
                pass
            time.sleep(0.1)
        else:
            sys.exit("moto_server does not answer")
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.body()
                with outer.lock:
                    outer.requests += 1
                    fails = outer.random.random() < outer.failing
                    # Some fail before they are done, some after: then nobody knows.
                    after = fails and outer.random.random() < 0.5
                if outer.slow:
                    time.sleep(outer.slow)
                writes = self.command in ("PUT", "POST")
                if outer.full and writes:
                    return self.answer(507, {}, b"<Error><Code>InsufficientStorage</Code><Message>the bucket is full</Message></Error>")
                if fails and not after:
                    outer.failed += 1
                    return self.answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
                # moto looks whether there is a file and writes it in two steps; S3 does it in one.
                with outer.alone if writes else contextlib.nullcontext():
                    status, headers, data = outer.ask(self.command, self.path, body, dict(self.headers))
                if after:
                    outer.failed += 1
                    return self.answer(500, {}, b"<Error><Code>InternalError</Code></Error>")
                if self.command == "GET":
                    with outer.lock:
                        outer.read += len(data)
                self.answer(status, headers, data)

            def body(self):
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    parts = []
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        parts.append(self.rfile.read(size))
                        self.rfile.readline()
                    self.rfile.readline()
                    return b"".join(parts)
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))

            def answer(self, status, headers, data):
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                            self.send_header(name, value)
                    length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(data))
                    self.send_header("Content-Length", length)
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(data)
                except OSError:
                    pass  # whoever asked was killed

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 256

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ask(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=120)
        try:
            headers = {name: value for name, value in headers.items() if name.lower() not in ("transfer-encoding", "host", "content-length")}
            connection.request(method, path, body=body, headers={**headers, "Host": f"127.0.0.1:{self.behind}"})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def env(self):
        return {
            "AWS_ENDPOINT": f"http://127.0.0.1:{self.server.server_address[1]}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }

    def stop(self):
        self.server.shutdown()
        self.moto.kill()
        self.moto.wait()
