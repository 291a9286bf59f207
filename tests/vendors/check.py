"""Holds recorded requests against the vendors' own published descriptions.

Usage: check.py REQUESTS, a file of one JSON object a line (`RECORD_REQUESTS`).

AWS: botocore's service models, operations with every parameter's name, type and
limits. Google: the discovery documents that google-api-python-client carries.
Azure has no such package: what its specification says of the few calls that we
make is the table AZURE below. Prints a count for each call, and what is wrong.
"""

import collections
import json
import re
import sys
from pathlib import Path

import botocore.session
import googleapiclient
from botocore.validate import ParamValidator

# ---- AWS ----------------------------------------------------------------------

LOADER = botocore.session.get_session()
MODELS = {}


def aws_model(service):
    if service not in MODELS:
        MODELS[service] = LOADER.get_service_model(service)
    return MODELS[service]


def wire_name(protocol, name, shape):
    """A member's name as it stands in a form."""
    if protocol == "ec2":
        own = shape.serialization.get("queryName")
        if own:
            return own
        name = shape.serialization.get("name", name)
        return name[:1].upper() + name[1:]
    return shape.serialization.get("name", name)


def scalar(shape, text):
    kinds = {"integer": int, "long": int, "float": float, "double": float}
    if shape.type_name in kinds:
        return kinds[shape.type_name](text)
    if shape.type_name == "boolean":
        if text not in ("true", "false"):
            raise ValueError(f"{text!r} is no boolean")
        return text == "true"
    return text


def unflatten(protocol, shape, pairs, path):
    """The value that a form's fields, each (tokens, text), stand for."""
    if shape.type_name == "structure":
        members = {wire_name(protocol, n, s): (n, s) for n, s in shape.members.items()}
        groups = collections.defaultdict(list)
        for tokens, text in pairs:
            if not tokens:
                raise ValueError(f"{path} is a structure and has a text")
            groups[tokens[0]].append((tokens[1:], text))
        value = {}
        for name, rest in groups.items():
            if name not in members:
                raise ValueError(f"{path}: no parameter {name!r}; there are {', '.join(sorted(members))}")
            member, of = members[name]
            value[member] = unflatten(protocol, of, rest, f"{path}.{member}")
        return value
    if shape.type_name == "list":
        groups = collections.defaultdict(list)
        flat = protocol == "ec2" or shape.serialization.get("flattened")
        for tokens, text in pairs:
            if not flat:
                wanted = shape.member.serialization.get("name", "member")
                if not tokens or tokens[0] != wanted:
                    raise ValueError(f"{path}: a list is written {wanted}.N, not {tokens}")
                tokens = tokens[1:]
            if not tokens or not tokens[0].isdigit():
                raise ValueError(f"{path}: a list counts its items, not {tokens}")
            groups[int(tokens[0])].append((tokens[1:], text))
        if sorted(groups) != list(range(1, len(groups) + 1)):
            raise ValueError(f"{path}: items are counted from 1: {sorted(groups)}")
        return [unflatten(protocol, shape.member, groups[n], f"{path}[{n}]") for n in sorted(groups)]
    if len(pairs) != 1 or pairs[0][0]:
        raise ValueError(f"{path} is one value, not {pairs}")
    return scalar(shape, pairs[0][1])


def enums(shape, value, path):
    """botocore does not look whether a word is one of those that there are."""
    if shape.type_name == "structure":
        for name, one in value.items():
            enums(shape.members[name], one, f"{path}.{name}")
    elif shape.type_name == "list":
        for one in value:
            enums(shape.member, one, path)
    elif getattr(shape, "enum", None) and value not in shape.enum:
        raise ValueError(f"{path}: {value!r} is none of {', '.join(shape.enum)}")


def aws(request):
    scope = re.search(r"Credential=[^/]+/\d{8}/([\w-]+)/([\w-]+)/aws4_request", request["headers"].get("authorization", ""))
    # A login with a web identity is not signed.
    form = dict(map(tuple, request["pairs"]))
    if scope:
        service = scope.group(2)
    elif form.get("Action", "").startswith("AssumeRole"):
        service = "sts"
    else:
        return None
    service = {"monitoring": "cloudwatch"}.get(service, service)
    model = aws_model(service)
    protocol = model.metadata["protocol"]
    target = request["headers"].get("x-amz-target", "")
    if protocol in ("ec2", "query") or "Action" in form:
        name = form.get("Action", "")
        pairs = [(key.split("."), text) for key, text in request["pairs"] if key not in ("Action", "Version")]
        operation = model.operation_model(name)
        if form.get("Version") != model.api_version:
            raise ValueError(f"{service} {name}: Version {form.get('Version')!r}, the model has {model.api_version!r}")
        value = unflatten(protocol, operation.input_shape, pairs, name) if operation.input_shape else {}
    elif target:
        prefix, name = target.rsplit(".", 1)
        if prefix != model.metadata["targetPrefix"] and not prefix.endswith("." + model.metadata["targetPrefix"]):
            raise ValueError(f"{service}: target {prefix!r}, the model has {model.metadata['targetPrefix']!r}")
        version = model.metadata.get("jsonVersion", "1.0")
        kind = request["headers"].get("content-type", "")
        if kind != f"application/x-amz-json-{version}":
            raise ValueError(f"{service} {name}: content type {kind!r}, the model has JSON {version}")
        operation = model.operation_model(name)
        value = request["body"] or {}
    else:
        raise ValueError(f"{service}: neither a form nor a target")
    report = ParamValidator().validate(value, operation.input_shape) if operation.input_shape else None
    if report is not None and report.has_errors():
        raise ValueError(f"{service} {name}: {report.generate_report()}")
    enums(operation.input_shape, value, f"{service} {name}")
    return f"aws {service} {name}"


# ---- Google -------------------------------------------------------------------

DOCUMENTS = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
GOOGLE = [
    json.loads((DOCUMENTS / f"{name}.json").read_text())
    for name in ("compute.v1", "logging.v2", "container.v1", "servicehealth.v1", "sts.v1", "iamcredentials.v1")
    if (DOCUMENTS / f"{name}.json").exists()
]


def methods(resources):
    for resource in resources.values():
        yield from resource.get("methods", {}).values()
        yield from methods(resource.get("resources", {}))


def template(document, method):
    path = document.get("servicePath", "") + method.get("flatPath", method["path"])
    path = re.sub(r"\{\+(\w+)\}", r"(?P<\1>.+)", path)
    return re.compile("^/?" + re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path).replace(":", r"\:") + "$")


CALLS = [
    (document, method, template(document, method))
    for document in GOOGLE
    for method in [*document.get("methods", {}).values(), *methods(document.get("resources", {}))]
]
JSON_TYPES = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict}


def google_value(document, schema, value, path):
    if "$ref" in schema:
        schema = document["schemas"][schema["$ref"]]
    kind = schema.get("type", "any")
    if kind != "any" and not isinstance(value, JSON_TYPES[kind]):
        raise ValueError(f"{path}: {value!r} is no {kind}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{path}: {value!r} is none of {schema['enum']}")
    if kind == "array":
        for one in value:
            google_value(document, schema["items"], one, path)
    if kind == "object" and "properties" in schema:
        for name, one in value.items():
            if name not in schema["properties"]:
                raise ValueError(f"{path}: no field {name!r}")
            google_value(document, schema["properties"][name], one, f"{path}.{name}")


def google(request):
    for document, method, pattern in CALLS:
        if method["httpMethod"] != request["method"] or not pattern.match(request["path"]):
            continue
        known = {**document.get("parameters", {}), **method.get("parameters", {})}
        given = collections.defaultdict(list)
        body_is_form = request["headers"].get("content-type") == "application/x-www-form-urlencoded"
        for key, text in [] if body_is_form else request["pairs"]:
            given[key].append(text)
        for name, texts in given.items():
            if name not in known:
                # Of a dated version the parameters may lack one that the method's own text recommends.
                if f"`{name}`" in method.get("description", ""):
                    continue
                raise ValueError(f"{method['id']}: no parameter {name!r}")
            one = known[name]
            if len(texts) > 1 and not one.get("repeated"):
                raise ValueError(f"{method['id']}: {name} is given more than once")
            for text in texts:
                if one["type"] == "integer":
                    number = int(text)
                    if not int(one.get("minimum", number)) <= number <= int(one.get("maximum", number)):
                        raise ValueError(f"{method['id']}: {name} is {number}")
                if one["type"] == "boolean" and text not in ("true", "false"):
                    raise ValueError(f"{method['id']}: {name} is {text!r}")
        needed = [n for n, one in known.items() if one.get("required") and one.get("location") == "query"]
        if missing := [name for name in needed if name not in given]:
            raise ValueError(f"{method['id']}: without {missing}")
        if "request" in method:
            google_value(document, method["request"], request["body"] or {}, method["id"])
        elif request["body"] and not body_is_form:
            raise ValueError(f"{method['id']}: takes no body")
        return f"google {method['id']}"
    return None


# ---- Azure --------------------------------------------------------------------

SUBSCRIPTION = r"/subscriptions/[^/]+"
TIME = r"'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'"
AZURE = [
    (
        "activity log",
        rf"{SUBSCRIPTION}/providers/microsoft\.insights/eventtypes/management/values",
        {
            "api-version": r"2015-04-01",
            # "No other syntax is allowed": a time range and at most one more condition.
            "$filter": rf"eventTimestamp ge {TIME} and eventTimestamp le {TIME}"
            r"( and (resourceGroupName|resourceUri|resourceProvider|correlationId) eq '(''|[^'])+')?",
            "$select": r"\w+(,\w+)*",
            "$skiptoken": r".+",
        },
        ("api-version", "$filter"),
    ),
    (
        "availability statuses",
        r"(/subscriptions/.+)/providers/microsoft\.resourcehealth/availabilitystatuses(/current)?",
        {"api-version": r"2015-01-01|2018-07-01|2020-05-01|2022-10-01|2023-10-01-preview|2024-02-01|2025-04-01", "$filter": ".*", "$expand": ".*", "$skiptoken": ".+"},
        ("api-version",),
    ),
    (
        "virtual machines",
        rf"{SUBSCRIPTION}(/resourcegroups/[^/]+)?/providers/microsoft\.compute/virtualmachines(/[^/]+)?",
        {"api-version": r"20\d\d-\d\d-\d\d", "$filter": ".*", "$expand": "instanceView", "statusOnly": "true|false", "$skiptoken": ".+"},
        ("api-version",),
    ),
    (
        "scale sets",
        rf"{SUBSCRIPTION}(/resourcegroups/[^/]+)?/providers/microsoft\.compute/virtualmachinescalesets(/[^/]+(/virtualmachines(/[^/]+)?)?)?",
        {"api-version": r"20\d\d-\d\d-\d\d", "$filter": ".*", "$select": ".*", "$expand": "instanceView|instanceView.*|userData", "$skiptoken": ".+"},
        ("api-version",),
    ),
    ("subscriptions", r"/subscriptions", {"api-version": r"20\d\d-\d\d-\d\d", "$skiptoken": ".+"}, ("api-version",)),
    ("a subscription", SUBSCRIPTION, {"api-version": r"20\d\d-\d\d-\d\d"}, ("api-version",)),
    (
        "scheduled events",
        r"/metadata/scheduledevents",
        {"api-version": r"2017-08-01|2017-11-01|2019-01-01|2019-04-01|2019-08-01|2020-07-01"},
        ("api-version",),
    ),
    (
        "managed identity",
        r"/metadata/identity/oauth2/token",
        {"api-version": r"2018-02-01|20(19|2\d)-\d\d-\d\d", "resource": r"https://.+", "client_id": ".+", "object_id": ".+", "mi_res_id": ".+", "msi_res_id": ".+"},
        ("api-version", "resource"),
    ),
]


def azure(request):
    # Pages that a fake server itself links to are the server's affair.
    # Names of parameters are compared without case there.
    given = {key.lower(): text for key, text in request["pairs"]}
    for name, path, allowed, needed in AZURE:
        if not re.fullmatch(path, request["path"], re.IGNORECASE):
            continue
        if request["method"] != "GET":
            raise ValueError(f"azure {name}: {request['method']}")
        for key, text in given.items():
            if key not in allowed:
                if key in ("page", "skip"):
                    continue
                raise ValueError(f"azure {name}: no parameter {key!r}")
            if not re.fullmatch(allowed[key], text):
                raise ValueError(f"azure {name}: {key} is {text!r}")
        # A link to the next page may hold no more than where that begins.
        paged = not given.keys().isdisjoint(("$skiptoken", "page", "skip"))
        if (missing := [key for key in needed if key not in given]) and not paged:
            raise ValueError(f"azure {name}: without {missing}")
        return f"azure {name}"
    return None


# ---- all ----------------------------------------------------------------------

def main(path):
    counts, wrong = collections.Counter(), collections.Counter()
    for line in Path(path).read_text().splitlines():
        request = json.loads(line)
        try:
            of = aws(request) or google(request) or azure(request)
            counts[of or f"not described: {request['method']} {re.sub(r'[0-9a-f-]{36}', '<id>', request['path'])}"] += 1
        except Exception as error:
            wrong[f"{type(error).__name__}: {error}"] += 1
    for name, count in sorted(counts.items()):
        print(f"{count:6}  {name}")
    for what, count in sorted(wrong.items()):
        print(f"WRONG {count}x  {what}")
    described = sum(count for name, count in counts.items() if not name.startswith("not described"))
    print(f"{described} requests are as their vendors describe them, {sum(wrong.values())} are not")
    return 1 if wrong or not described else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
