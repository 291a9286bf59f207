"""Judges messages by Slack's own SDK and by the documented limits: a JSON line
in (what it is about, the message), a JSON line out (what is wrong with it)."""
import json, re, sys

try:
    from slack_sdk.errors import SlackObjectFormationError
    from slack_sdk.models.blocks import Block, BlockElement
except ImportError:
    print("skipped: no slack_sdk")
    sys.exit(0)

LIMITS = {"header": 150, "section": 3000, "context": 2000}


def texts(value):
    """All text objects, however deep."""
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        if value.get("type") in ("mrkdwn", "plain_text"):
            yield value
        else:
            for item in value.values():
                yield from texts(item)


def judge(message):
    blocks = message.get("blocks", [])
    if not message.get("text"):
        yield "no text"
    if len(message["text"]) > 4000:
        yield "the text is too long"
    if len(blocks) > 50:
        yield f"{len(blocks)} blocks"
    if sum(len(text["text"]) for text in texts(blocks)) > 10_000:
        yield "too much in all"
    parsed = Block.parse_all(blocks)
    for given, block in zip(blocks, parsed):
        if block is None:
            yield f"unknown block {given.get('type')}"
            continue
        try:
            block.validate_json()
            for element in given.get("elements", []):
                if given["type"] == "actions":
                    button = BlockElement.parse(element)
                    button.validate_json()
            if block.to_dict()["type"] != given["type"]:
                yield "it reads back as another block"
        except (SlackObjectFormationError, KeyError) as error:
            yield f"{given['type']}: {error}"
        for text in texts(given):
            limit = LIMITS.get(given["type"], 75)
            if not text["text"] or len(text["text"]) > limit:
                yield f"{given['type']}: a text of {len(text['text'])}"
            if text["type"] == "mrkdwn":
                yield from markup(text)
    for element in (e for b in blocks if b["type"] == "actions" for e in b["elements"]):
        if len(element.get("value", "")) > 2000 or len(element.get("url", "")) > 3000:
            yield "a button holds too much"


def markup(text):
    if text.get("verbatim") is not True:
        yield "a text that Slack would look for names in"
    # What stands between angle brackets is ours: dates and links.
    for inner in re.findall(r"<([^>]*)>", text["text"]):
        if not re.match(r"(!date\^\d+\^|https?://)", inner):
            yield f"markup from outside: <{inner}>"
    if re.search(r"&(?!amp;|lt;|gt;)", text["text"]):
        yield "a bare &"
    if text["text"].count("```") % 2:
        yield "an open fence"


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"about": asked["about"], "wrong": sorted(set(judge(asked["message"])))}))
