#!/usr/bin/env python3
"""Asks two builds the same questions and lists in which fields their answers differ.

    benches/differs.py OLD NEW [FOLDER…]

The folders (fixtures and, where it is there, ../shared/incidents, unless others are named) hold
cases: a folder each with `input`, perhaps `loki`, and `expect.json`. Each case is asked for what it
expects answers about and for everything. OLD may be a file that an earlier call wrote with
`--keep FILE`, so that one build is asked once. Ends with 1 where anything differs.
"""
import argparse, collections, json, pathlib, subprocess, sys


def requests(folders):
    for folder in folders:
        for case in sorted(path.parent for path in folder.glob("*/expect.json")):
            expected = json.loads((case / "expect.json").read_text())
            sources = [str(case / part) for part in ("input", "loki") if (case / part).exists()]
            asked = expected.get("experiments")
            names = list(asked) if isinstance(asked, (dict, list)) else [expected.get("object")]
            names = [name for name in names if isinstance(name, str)]
            for name in dict.fromkeys([*names, "*"]):
                yield {"id": f"{case.name} {name}", "from": sources, "name": name}


def answers(build, asked):
    """What a build answers, by request; or what was written down of it."""
    if build.endswith(".json"):
        return json.loads(pathlib.Path(build).read_text())
    text = "".join(json.dumps(one) + "\n" for one in asked)
    done = subprocess.run([build, "batch"], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{build} batch ended with {done.returncode}: {done.stderr[-500:]}")
    lines = (json.loads(line) for line in done.stdout.splitlines())
    return {one["id"]: one.get("answer", {"error": one.get("error")}) for one in lines}


def differing(old, new, path=""):
    """Each place where two values differ: a path in which # stands for any row, and both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differing(old.get(key), new.get(key), f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new):
            yield from differing(one, other, f"{path}.#")
    elif old != new:
        yield path.lstrip("."), old, new


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="write down what NEW answers")
    parser.add_argument("--without", action="append", default=[], help="a field that may differ, such as engine.version")
    given = parser.parse_args()
    home = pathlib.Path(__file__).resolve().parent.parent
    usual = [home / "fixtures", home.parent / "shared" / "incidents"]
    asked = list(requests(given.folders or [folder for folder in usual if folder.exists()]))
    old, new = answers(given.old, asked), answers(given.new, asked)
    if given.keep:
        given.keep.write_text(json.dumps(new))
    fields = collections.defaultdict(list)
    for one in asked:
        for path, was, now in differing(old.get(one["id"]), new.get(one["id"])):
            if path not in given.without:
                fields[path].append((one["id"], was, now))
    differ = len({name for found in fields.values() for name, _, _ in found})
    print(f"{len(asked)} questions, {differ} answers differ")
    for path, found in sorted(fields.items()):
        name, was, now = found[0]
        print(f"{len(found):5} {path}  {name}: {json.dumps(was)[:100]} -> {json.dumps(now)[:100]}")
    sys.exit(bool(fields))


main()
