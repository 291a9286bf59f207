"""Starts moto, puts machines into it, and runs the opt-in test against it.

Usage: moto.py COMMAND…, which is run with E2E_AWS_ENDPOINT_URL and E2E_AWS_INSTANCE set.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import boto3

REGION = "us-west-2"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(url):
    for _ in range(150):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("moto did not start within 30 s")


def fill(url):
    """A group with two machines, a spot request and a machine that was stopped; its id."""
    of = {"region_name": REGION, "endpoint_url": url, "aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "secret"}
    ec2, scaling = boto3.client("ec2", **of), boto3.client("autoscaling", **of)
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    scaling.create_launch_configuration(LaunchConfigurationName="trainers", ImageId=image, InstanceType="t2.micro")
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="trainers",
        LaunchConfigurationName="trainers",
        MinSize=0,
        MaxSize=4,
        DesiredCapacity=2,
        AvailabilityZones=[f"{REGION}a"],
        Tags=[{"Key": "experiment", "Value": "llama", "PropagateAtLaunch": True}],
    )
    ec2.request_spot_instances(InstanceCount=1, LaunchSpecification={"ImageId": image, "InstanceType": "t2.micro"})
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "experiment", "Value": "llama"}]}]
    made = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, InstanceType="t2.micro", TagSpecifications=tags)
    instance = made["Instances"][0]["InstanceId"]
    ec2.stop_instances(InstanceIds=[instance])
    return instance


def main(command):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"{url}/moto-api/")
        instance = fill(url)
        print(f"moto at {url}, {instance} is stopped")
        environment = {**os.environ, "E2E_AWS_ENDPOINT_URL": url, "E2E_AWS_INSTANCE": instance}
        return subprocess.run(command, env=environment).returncode
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
