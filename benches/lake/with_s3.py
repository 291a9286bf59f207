#!/usr/bin/env python3
"""Runs a command with a bucket of its own: with_s3.py [--failing SHARE] [--slow SECONDS] COMMAND…

The bucket is moto's, behind a proxy. The command finds it by `AWS_*`, and a place for a lake in
`LAKE_TEST_URL`. Without moto nothing is run, and that is said.
"""
import argparse, os, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from proxy import S3

parser = argparse.ArgumentParser()
parser.add_argument("--failing", type=float, default=0)
parser.add_argument("--slow", type=float, default=0)
parser.add_argument("command", nargs=argparse.REMAINDER)
args = parser.parse_args()
if not (shutil.which("moto_server") or os.path.exists(os.path.join(os.path.dirname(sys.executable), "moto_server"))):
    sys.exit(print("skipped: no moto_server"))
s3 = S3()
s3.failing, s3.slow = args.failing, args.slow
try:
    code = subprocess.run(args.command, env={**os.environ, **s3.env(), "LAKE_TEST_URL": "s3://lab/tests"}).returncode
    print(f"{s3.requests} requests, {s3.failed} failed on purpose, {s3.read / 1e6:.1f} MB read")
finally:
    s3.stop()
sys.exit(code)
