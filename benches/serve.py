#!/usr/bin/env python3
"""The service under load: 200 commands of Slack at once while it takes in 2,000 facts a second.

    benches/serve.py BINARY [--seconds 20] [--rate 2000] [--commands 200] [--no-slack]

Everything is on loopback and in a temporary folder; nothing is left behind. Audit
records are pushed to the webhook in lists of 100, as an API server does, and slash
commands are signed as Slack does it. Ends with 1 where a command was not
acknowledged within 3 s, a list was refused for good, the rate was not held, or
memory grew past a gigabyte.
"""
import argparse, concurrent.futures, hashlib, hmac, http.client, http.server, json, os, signal, subprocess, sys, tempfile
import threading, time, urllib.parse

TOKEN, SECRET, LOT = "0123456789abcdef" * 2, "a-secret-that-only-this-bench-has", 100


def audit(first):
    def record(number):
        name = f"load-{number}"
        return {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": f"a-{number}", "stage": "ResponseComplete",
                "requestURI": f"/api/v1/namespaces/research/pods/{name}", "verb": "delete", "user": {"username": "load"},
                "objectRef": {"resource": "pods", "namespace": "research", "name": name, "apiVersion": "v1"}, "responseStatus": {"code": 200},
                "requestReceivedTimestamp": "2026-11-21T15:20:27.123456Z", "stageTimestamp": "2026-11-21T15:20:27.223456Z"}
    items = [record(n) for n in range(first, first + LOT)]
    return json.dumps({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": items})


def request(address, method, path, body="", headers=None):
    """Status, body, seconds."""
    began = time.monotonic()
    connection = http.client.HTTPConnection(*address, timeout=30)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, time.monotonic() - began


def command(address, number):
    body = urllib.parse.urlencode({
        "team_id": "T0001", "team_domain": "lab", "channel_id": "C2147483705", "channel_name": "training", "user_id": f"U{number:08d}",
        "user_name": "steve", "command": "/whathappened", "text": f"gpt2-small-7f3 {number % 7}", "api_app_id": "A123456",
        "response_url": "https://hooks.slack.com/commands/1234/5678", "trigger_id": f"13345224609.738474920.{number}"})
    now = str(int(time.time()))
    signature = "v0=" + hmac.new(SECRET.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    return request(address, "POST", "/slack/commands", body, {
        "Content-Type": "application/x-www-form-urlencoded", "X-Slack-Request-Timestamp": now, "X-Slack-Signature": signature})


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.split(":", 1) for line in status if ":" in line)
    return int(fields["VmRSS"].split()[0]) // 1024, int(fields["VmHWM"].split()[0]) // 1024


class Nobody(http.server.BaseHTTPRequestHandler):
    """Takes what the service posts to Slack."""
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b'{"ok":true}')

    def log_message(self, *_):
        pass


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("binary")
    parse.add_argument("--seconds", type=int, default=20)
    parse.add_argument("--rate", type=int, default=2000)
    parse.add_argument("--commands", type=int, default=200)
    parse.add_argument("--fixture", default="fixtures/lab-cluster/input")
    parse.add_argument("--no-slack", action="store_true")
    args = parse.parse_args()
    api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nobody)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        store, config = os.path.join(folder, "store"), os.path.join(folder, "config.toml")
        with open(config, "w") as file:
            file.write(f"[kubernetes]\nenabled = false\n[serve.hooks.kubernetes-audit]\ntoken = '{TOKEN}'\n")
        subprocess.run([args.binary, "import", args.fixture, "--store", store], check=True, stderr=subprocess.DEVNULL)
        env = {"PATH": "/usr/bin:/bin", "HOME": folder, "SLACK_SIGNING_SECRET": SECRET, "SLACK_BOT_TOKEN": "xoxb-none",
               "SLACK_API_URL": f"http://127.0.0.1:{api.server_port}/"}
        service = subprocess.Popen([args.binary, "serve", "--listen", "127.0.0.1:0", "--store", store, "--config", config],
                                   stderr=subprocess.PIPE, text=True, env=env)
        try:
            return measure(args, service)
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(60)


def measure(args, service):
    for line in service.stderr:
        if line.startswith("listening on http://"):
            host, port = line.split("//")[1].strip().rsplit(":", 1)
            break
    else:
        sys.exit("it does not start")
    threading.Thread(target=lambda: [None for _ in service.stderr], daemon=True).start()
    address = (host, int(port))
    over, lots, refused, pushes, peaks = threading.Event(), [0], [0], [], []
    lock, began = threading.Lock(), time.monotonic()

    def push():
        while not over.is_set():
            with lock:
                number = lots[0]
                lots[0] += 1
            # Each lot has its moment; who is late goes on at once.
            time.sleep(max(0, began + number * LOT / args.rate - time.monotonic()))
            body = audit(number * LOT)
            while True:
                status, text, took = request(address, "POST", "/hooks/kubernetes-audit", body, {"Authorization": f"Bearer {TOKEN}"})
                if status == 200:
                    pushes.append(took)
                    break
                refused[0] += 1
                if status != 503:
                    sys.exit(f"{status}: {text}")
                time.sleep(0.2)

    def look():
        while not over.is_set():
            peaks.append(resident(service.pid)[0])
            time.sleep(0.5)

    threads = [threading.Thread(target=push) for _ in range(16)] + [threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    acks = []
    if args.no_slack:
        time.sleep(args.seconds)
    else:
        time.sleep(args.seconds / 2)
        with concurrent.futures.ThreadPoolExecutor(args.commands) as pool:
            acks = list(pool.map(lambda n: command(address, n), range(args.commands)))
        time.sleep(max(0, began + args.seconds - time.monotonic()))
    over.set()
    for thread in threads:
        thread.join()
    lasted = time.monotonic() - began
    rate = len(pushes) * LOT / lasted
    memory, peak = resident(service.pid)
    pushes.sort()
    at = lambda values, part: values[min(len(values) - 1, int(len(values) * part))] if values else 0
    print(f"facts: {len(pushes) * LOT} acknowledged in {lasted:.1f} s = {rate:.0f}/s; a list takes {at(pushes, 0.5):.3f} s (median), "
          f"{at(pushes, 0.99):.3f} s (99 %), {pushes[-1]:.3f} s at most; {refused[0]} times told to come again")
    codes = sorted({status for status, _, _ in acks})
    times = sorted(took for _, _, took in acks)
    if acks:
        print(f"commands: {len(acks)} at once, answered {codes}: {at(times, 0.5):.3f} s (median), {at(times, 0.99):.3f} s (99 %), {times[-1]:.3f} s at most")
    print(f"memory: {memory} MiB in the end, {peak} MiB at most (first {peaks[0]} MiB)")
    good = (not acks or (codes == [200] and times[-1] < 3)) and rate >= args.rate * 0.95 and peak < 1024
    print("as it must be" if good else "NOT as it must be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
