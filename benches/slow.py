#!/usr/bin/env python3
"""Callers of a service that many keep open and some feed slowly: 2,000 idle connections, 200 slow ones, 50 callers.

    benches/slow.py BINARY [--idle 2000] [--slow 200] [--callers 50] [--seconds 20]

Idle connections say nothing; slow ones drip a byte of a head, of an upload or of a statement every second, or take
nothing of an answer; whoever of them is let go comes again at once. They come from addresses of their own on loopback
(127.0.0.2 and on), as many senders do; with --one-sender all from one. Callers ask for answers, tables and pages from
127.0.0.1. Ends with 1 where an answer took 1 s or longer, or failed. Everything is in a temporary folder.
"""
import argparse, http.client, os, pathlib, resource, shutil, socket, subprocess, sys, tempfile, threading, time

args = argparse.ArgumentParser()
args.add_argument("binary")
args.add_argument("--idle", type=int, default=2000)
args.add_argument("--slow", type=int, default=200)
args.add_argument("--callers", type=int, default=50)
args.add_argument("--seconds", type=float, default=20)
args.add_argument("--one-sender", action="store_true")
args = args.parse_args()
root = pathlib.Path(__file__).resolve().parent.parent
folder = pathlib.Path(tempfile.mkdtemp(prefix="whathappened-slow-"))
env = {"HOME": str(folder), "PATH": os.environ["PATH"]}
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
store = str(folder / "store")
subprocess.run([args.binary, "import", str(root / "fixtures/lab-cluster/input"), "--store", store, "-q"], env=env, check=True)
service = subprocess.Popen([args.binary, "serve", "--no-fetch", "--listen", "127.0.0.1:0", "--store", store],
                           env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
for line in service.stderr:
    if "listening on http://" in line:
        host, port = line.split("http://")[1].strip().split(":")
        address = (host, int(port))
        break
else:
    sys.exit("the service did not begin to listen")
threading.Thread(target=lambda: [None for _ in service.stderr], daemon=True).start()
over, lock = threading.Event(), threading.Lock()
again, open_now = 0, 0
HEADS = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    b"POST /api/v1/imports?name=x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n",
    b"POST /api/v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sql\r\nContent-Length: 60000\r\n\r\n",
    b"GET /api/v1/timelines/%2A?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


def connect(number):
    sender = 2 if args.one_sender else 2 + number % 250
    # Some are refused while all are busy: they try until they are in.
    return socket.create_connection(address, timeout=30, source_address=(f"127.0.0.{sender}", 0))


def hold(numbers, is_slow):
    """Keeps connections open, and opens those anew that were let go."""
    global again, open_now
    held = {}
    while not over.is_set():
        for number in numbers:
            try:
                if number not in held:
                    held[number] = connect(number)
                    if is_slow:
                        held[number].sendall(HEADS[number % len(HEADS)])
                    held[number].setblocking(False)
                elif is_slow and number % len(HEADS) != 3:
                    held[number].send(b"x")
                if not (is_slow and number % len(HEADS) == 3) and held[number].recv(1) == b"":
                    raise ConnectionError
            except BlockingIOError:
                pass
            except OSError:
                gone = held.pop(number, None)
                if gone:
                    gone.close()
                with lock:
                    again += 1
        with lock:
            open_now = max(open_now, len(held))
        over.wait(1)


took, failed = [], []
PATHS = ["/api/v1/answers/gpt2-small-7f3", "/api/v1/experiments", "/x/gpt2-small-7f3", "/"]


def get(path):
    connection = http.client.HTTPConnection(*address, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status



def ask(number):
    asked = number
    while not over.is_set():
        asked += 1
        begun = time.monotonic()
        try:
            status = get(PATHS[asked % len(PATHS)])
        except OSError as error:
            status = repr(error)
        with lock:
            took.append(time.monotonic() - begun)
            if status != 200:
                failed.append(status)
        # As people do, who read what they are told.
        over.wait(0.5)


# The first answer of all explains what nobody asked about before.
for path in PATHS:
    get(path)
lots = 20
threads = [threading.Thread(target=hold, args=(range(lot, args.idle, lots), False)) for lot in range(lots)]
threads += [threading.Thread(target=hold, args=(range(lot, args.slow, 4), True)) for lot in range(4)]
for thread in threads:
    thread.start()
time.sleep(5)
callers = [threading.Thread(target=ask, args=(number,)) for number in range(args.callers)]
for thread in callers:
    thread.start()
time.sleep(args.seconds)
over.set()
for thread in threads + callers:
    thread.join()
memory = next(line for line in open(f"/proc/{service.pid}/status") if line.startswith("VmHWM")).split()[1]
service.terminate()
service.wait()
shutil.rmtree(folder)
took.sort()
print(f"{args.idle} idle and {args.slow} slow connections ({again} came again): {len(took)} answers to {args.callers} callers, "
      f"median {took[len(took) // 2] * 1000:.0f} ms, 99 of 100 within {took[len(took) * 99 // 100] * 1000:.0f} ms, longest {took[-1] * 1000:.0f} ms, "
      f"{len(failed)} failed {sorted(set(map(str, failed)))[:3]}; the service took {int(memory) // 1024} MiB")
sys.exit(1 if failed or took[-1] >= 1 else 0)
