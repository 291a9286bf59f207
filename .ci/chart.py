"""Lints and renders the Helm chart, and compares it with deploy/kubernetes."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

CHART = pathlib.Path("deploy/helm/whathappened")
PLAIN = pathlib.Path("deploy/kubernetes")
bad = []


def check(holds, what):
    if not holds:
        bad.append(what)


def with_helm():
    """Helm's own command: (lint, render)."""

    def lint():
        done = subprocess.run(["helm", "lint", "--strict", CHART], capture_output=True, text=True)
        return [] if done.returncode == 0 else [done.stdout + done.stderr]

    def render(values):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(values, file)
            file.flush()
            command = ["helm", "template", "whathappened", CHART, "-n", "forensics", "-f", file.name]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            return done.stdout

    return lint, render


def with_library():
    """The same engine as a library (the package helm-python-sdk)."""
    import helm_python as helm

    def lint():
        # Severity 1 informs (that there is no icon); 2 warns, 3 is an error.
        messages = helm.lint(str(CHART), strict=True)["messages"]
        return [f"lint: {one['path']}: {one['error']}" for one in messages if one["severity"] > 1]

    def render(values):
        with helm.Chart.load(str(CHART)) as chart:
            chart.validate_schema(values)
            made = chart.render(values, name="whathappened", namespace="forensics")
        return "\n---\n".join(text for name, text in made.items() if name.endswith(".yaml"))

    return lint, render


def engine():
    if shutil.which("helm"):
        return with_helm()
    try:
        return with_library()
    except ImportError:
        return None


def by_kind(text):
    return {one["kind"]: one for one in yaml.safe_load_all(text) if one}


def rules(text):
    """The rules of a role with their comments, without what the chart puts around them."""
    lines = text[text.index("rules:\n"):].split("\n---\n")[0].splitlines()
    return [line for line in lines if "{{" not in line]


def without_names(spec):
    """A pod's template, but for what is named after the release."""
    template = json.loads(json.dumps(spec["template"]))
    template["metadata"].pop("labels")
    template["metadata"]["annotations"].pop("checksum/config", None)
    container = template["spec"]["containers"][0]
    container.pop("image")
    container.pop("imagePullPolicy", None)
    return template


def main():
    version = re.search(r'\[workspace\.package\]\nversion = "(.*)"', pathlib.Path("Cargo.toml").read_text())[1]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    check(chart["version"] == chart["appVersion"] == version, f"Chart.yaml is not of version {version}")
    check(
        rules((CHART / "templates/rbac.yaml").read_text()) == rules((PLAIN / "rbac.yaml").read_text()),
        "templates/rbac.yaml has other rules than deploy/kubernetes/rbac.yaml",
    )
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    check(set(values) == set(schema["properties"]) - {"global"}, "values.yaml and values.schema.json differ in their keys")

    found = engine()
    if found is None:
        print("skipped: neither helm nor helm-python-sdk, so nothing was linted or rendered")
    else:
        rendered(*found)
    print("\n".join(bad) if bad else "chart: it is as deploy/kubernetes is")
    return bool(bad)


def rendered(lint, render):
    bad.extend(lint())
    made = by_kind(render({}))
    plain = by_kind("\n---\n".join(file.read_text() for file in sorted(PLAIN.glob("*.yaml")) if file.name != "kustomization.yaml"))
    check(
        set(made) == set(plain) - {"Namespace"} | {"ConfigMap"},
        f"the chart makes {sorted(made)}, deploy/kubernetes {sorted(plain)}",
    )
    for kind in ("ClusterRole", "NetworkPolicy", "PersistentVolumeClaim"):
        what = "rules" if kind == "ClusterRole" else "spec"
        one, other = made[kind][what], plain[kind][what]
        if kind == "NetworkPolicy":
            one.pop("podSelector")
            other.pop("podSelector")
            # By name here, by number there.
            one["ingress"][0]["ports"][0]["port"] = 8080
        check(one == other, f"{kind}: {what} differs from deploy/kubernetes")
    check(
        without_names(made["Deployment"]["spec"]) == without_names(plain["Deployment"]["spec"]),
        "Deployment: its pods differ from those of deploy/kubernetes",
    )
    subject = made["ClusterRoleBinding"]["subjects"][0]
    check(subject["name"] == made["ServiceAccount"]["metadata"]["name"], "the role is bound to no account")
    check(subject["namespace"] == "forensics", "the role is bound in another namespace")
    selector = made["Service"]["spec"]["selector"].items()
    check(selector <= made["Deployment"]["spec"]["template"]["metadata"]["labels"].items(), "the service selects no pod")

    small = by_kind(render({
        "rbac": {"clusterWide": False},
        "persistence": {"enabled": False},
        "networkPolicy": {"enabled": False},
        "serviceAccount": {"create": False},
        "image": {"repository": "registry.example.com/whathappened", "digest": "sha256:" + "0" * 64},
        "env": [{"name": "LOKI_ADDR", "value": "http://loki:3100"}],
    }))
    check(set(small) == {"ConfigMap", "Deployment", "Role", "RoleBinding", "Service"}, f"with less it makes {sorted(small)}")
    resources = [name for rule in small["Role"]["rules"] for name in rule["resources"]]
    check(not {"nodes", "namespaces"} & set(resources), "a Role asks for what is not in a namespace")
    pod = small["Deployment"]["spec"]["template"]["spec"]
    check(pod["containers"][0]["image"].endswith("@sha256:" + "0" * 64), "the digest is not used")
    check({"name": "LOKI_ADDR", "value": "http://loki:3100"} in pod["containers"][0]["env"], "env is not used")

    ballista(render)
    for wrong in ({"persistance": {}}, {"service": {"port": 0}}, {"config": 3}, {"persistence": {"size": "much"}}):
        try:
            render(wrong)
            bad.append(f"the schema lets {wrong} pass")
        except Exception as error:  # of whichever engine
            check(next(iter(wrong)) in str(error), f"{wrong} is refused for another reason: {error}")


def ballista(render):
    """Scheduler and executors, which only the service reaches."""
    lake = "s3://bucket/folder"
    made = [one for one in yaml.safe_load_all(render({"ballista": {"enabled": True, "lake": lake, "executors": 3}})) if one]
    named = {(one["kind"], one["metadata"]["name"]): one for one in made}
    check(len(named) == len(made), "two things of the chart have one name")
    env = {}
    for role, replicas in (("scheduler", 1), ("executor", 3)):
        one = named.get(("Deployment", f"whathappened-ballista-{role}"))
        check(one is not None, f"there is no {role}")
        if one is None:
            continue
        pod = one["spec"]["template"]
        check(one["spec"]["replicas"] == replicas, f"{role}: {one['spec']['replicas']} replicas")
        check(one["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items(), f"{role} selects no pod")
        check(pod["spec"]["containers"][0]["args"][:2] == ["ballista", role], f"{role} is started as something else")
        env[role] = {one["name"]: one.get("value") for one in pod["spec"]["containers"][0]["env"]}
    check(env.get("executor", {}).get("WHATHAPPENED_STORE") == lake, "executors read another store")
    service = named[("Deployment", "whathappened")]["spec"]["template"]["spec"]["containers"][0]["env"]
    service = {one["name"]: one.get("value") for one in service}
    check(service["WHATHAPPENED_STORE"] == lake, "the service answers from another store")
    check(service["WHATHAPPENED_BALLISTA"] == "df://whathappened-ballista:50050", "the service asks another scheduler")
    own = named[("Service", "whathappened")]["spec"]["selector"]
    pod = named[("Deployment", "whathappened-ballista-scheduler")]["spec"]["template"]["metadata"]["labels"]
    check(not own.items() <= pod.items(), "the service's own Service selects the scheduler")
    check(("NetworkPolicy", "whathappened-ballista") in named, "everybody reaches the executors")


sys.exit(main())
