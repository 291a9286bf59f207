"""Signs bodies as Slack's own SDK does: a JSON line in, a JSON line out."""
import json, sys

try:
    from slack_sdk.signature import SignatureVerifier
except ImportError:
    print("skipped: no slack_sdk")
    sys.exit(0)

for line in sys.stdin:
    asked = json.loads(line)
    verifier = SignatureVerifier(asked["secret"])
    signature = verifier.generate_signature(timestamp=asked["time"], body=asked["body"])
    print(json.dumps({"signature": signature}))
