//! The many names of one machine: provider ids, self links, resource ids, ARNs.

use crate::event::Event;

/// Whose machine it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cloud {
    Gcp,
    Aws,
    Azure,
    OpenStack,
    VSphere,
}

/// A machine as far as a name of it tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Machine {
    /// The cloud.
    pub cloud: Cloud,
    /// Project, account number or subscription (in lower case).
    pub account: Option<String>,
    /// The zone, as the cloud writes it.
    pub zone: Option<String>,
    /// Managed instance group, Auto Scaling group or scale set.
    pub group: Option<String>,
    /// The machine's name, which comes again when it is made anew: of GCE the
    /// VM's, of Azure in lower case; of scale sets the host name (`<set><6 base-36
    /// digits>`).
    pub name: Option<String>,
    /// The id that never comes again: GCE's number, AWS's `i-…`, Azure's
    /// resource id in lower case (which does come again).
    pub id: Option<String>,
}

impl Machine {
    /// A machine of which only the cloud is known.
    #[must_use]
    pub fn of(cloud: Cloud) -> Self {
        Self {
            cloud,
            account: None,
            zone: None,
            group: None,
            name: None,
            id: None,
        }
    }

    /// Reads a node's `spec.providerID`, or any other name of a machine that
    /// says what it is: a self link of GCE, a resource id of Azure, an ARN or id
    /// of EC2, a private DNS name made of an EC2 id.
    #[must_use]
    pub fn parse_provider_id(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((scheme, rest)) = text.split_once("://") {
            match scheme {
                "gce" => return gce_parts(&rest.split('/').collect::<Vec<_>>()),
                "aws" => return aws_path(rest),
                "azure" => return azure_uuid(rest).or_else(|| Self::azure(rest)),
                "openstack" => return by_uuid(Cloud::OpenStack, rest),
                "vsphere" => return by_uuid(Cloud::VSphere, rest),
                _ => {}
            }
        }
        Self::gce(text)
            .or_else(|| Self::azure(text))
            .or_else(|| Self::ec2(text))
    }

    /// Reads a name of a GCE instance: `projects/P/zones/Z/instances/N`, also
    /// with a host or `compute/v1` before it.
    #[must_use]
    pub fn gce(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let at = |key: &str| {
            let key = parts.iter().position(|part| *part == key)?;
            parts.get(key + 1).copied().filter(|part| !part.is_empty())
        };
        let (zone, name) = (at("zones")?, at("instances")?);
        let mut machine = gce_parts(&[at("projects").unwrap_or_default(), zone, name])?;
        // Some records have the number where others have the name.
        if is_number(name) {
            machine.id = machine.name.take();
        }
        Some(machine)
    }

    /// Reads an EC2 instance's id, ARN, or DNS name that holds the id.
    #[must_use]
    pub fn ec2(text: &str) -> Option<Self> {
        let mut machine = Self::of(Cloud::Aws);
        let id = if let Some(rest) = text.strip_prefix("arn:") {
            let (_, id) = rest.rsplit_once("instance/")?;
            let account = rest.split(':').nth(3)?;
            machine.account = some(account);
            id
        } else if let Some((host, _)) = text
            .split_once('.')
            .filter(|(_, domain)| is_ec2_domain(domain))
        {
            machine.name = some(text);
            host
        } else {
            text
        };
        machine.id = Some(ec2_id(id)?);
        Some(machine)
    }

    /// Reads an Azure resource id of a virtual machine or of an instance of a
    /// scale set, in any mix of cases, also with more behind it.
    #[must_use]
    pub fn azure(text: &str) -> Option<Self> {
        let start = text.to_ascii_lowercase().find("subscriptions/")?;
        let parts: Vec<&str> = text.get(start..)?.split('/').collect();
        let at = |key: &str| {
            let key = parts
                .iter()
                .position(|part| part.eq_ignore_ascii_case(key))?;
            let value = parts.get(key + 1).filter(|part| !part.is_empty())?;
            Some((key + 2, *value))
        };
        let (_, account) = at("subscriptions")?;
        let mut machine = Self::of(Cloud::Azure);
        machine.account = Some(account.to_ascii_lowercase());
        let set = at("virtualMachineScaleSets");
        machine.group = set.map(|(_, set)| set.to_owned());
        let (end, name) = at("virtualMachines")?;
        machine.name = Some(match set {
            Some((_, set)) => scale_set_host(set, name),
            None => name.to_ascii_lowercase(),
        });
        machine.id = Some(format!("/{}", parts[..end].join("/")).to_ascii_lowercase());
        Some(machine)
    }

    /// The id, else the name with what makes it unique for a while; empty where
    /// the machine has neither.
    #[must_use]
    pub fn key(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        match (&self.id, &self.name) {
            (Some(id), _) => id.clone(),
            (None, Some(name)) => {
                format!("{}/{}/{name}", part(&self.account), part(&self.zone))
            }
            (None, None) => String::new(),
        }
    }

    /// Names the machine in an event that is about it.
    pub fn name_in(&self, event: &mut Event) {
        if self.id.is_some() || self.name.is_some() {
            event.object_kind = Some("Instance".to_owned());
        }
        event.object_uid.clone_from(&self.id);
        event.entities.instance.clone_from(&self.id);
        event.entities.node.clone_from(&self.name);
        event.entities.zone.clone_from(&self.zone);
        event.set_attribute("account", self.account.as_deref());
        event.set_attribute("group", self.group.as_deref());
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn gce_parts(parts: &[&str]) -> Option<Machine> {
    let [project, zone, name] = parts else {
        return None;
    };
    Some(Machine {
        account: some(project),
        zone: some(zone),
        name: Some(some(name)?),
        ..Machine::of(Cloud::Gcp)
    })
}

/// `/us-east-1a/i-…`, `//i-…`, `/us-east-1a/fargate-…`.
fn aws_path(path: &str) -> Option<Machine> {
    let (zone, id) = path.rsplit_once('/').unwrap_or(("", path));
    let id = ec2_id(id).or_else(|| id.starts_with("fargate-").then(|| id.to_owned()))?;
    Some(Machine {
        zone: some(zone.trim_matches('/')),
        id: Some(id),
        ..Machine::of(Cloud::Aws)
    })
}

/// `i-` and 8 or 17 hexadecimal digits; `mi-` for machines of one's own.
fn ec2_id(text: &str) -> Option<String> {
    let digits = text
        .strip_prefix("i-")
        .or_else(|| text.strip_prefix("mi-"))?;
    let good = digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    good.then(|| text.to_owned())
}

fn is_ec2_domain(domain: &str) -> bool {
    domain == "ec2.internal" || domain.ends_with(".compute.internal")
}

/// The host name that Azure gives instance `number` of a scale set.
pub fn scale_set_host(set: &str, number: &str) -> String {
    let Ok(mut rest) = number.parse::<u32>() else {
        // Flexible sets name their machines themselves.
        return number.to_ascii_lowercase();
    };
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        let value = u8::try_from(rest % 36).unwrap_or(0);
        *digit = if value < 10 {
            b'0' + value
        } else {
            b'a' + value - 10
        };
        rest /= 36;
    }
    let digits = String::from_utf8_lossy(&digits);
    format!("{}{digits}", set.to_ascii_lowercase())
}

/// `//<uuid>` of old clusters on Azure: the machine's own reading of its id,
/// which has the first three groups the other way round than Azure's `vmId`.
fn azure_uuid(path: &str) -> Option<Machine> {
    let text = path.trim_start_matches('/').to_ascii_lowercase();
    if !is_uuid(&text) {
        return None;
    }
    let mut groups = text.split('-').map(str::to_owned).collect::<Vec<_>>();
    for group in &mut groups[..3] {
        let bytes: Vec<&str> = (0..group.len())
            .step_by(2)
            .filter_map(|at| group.get(at..at + 2))
            .rev()
            .collect();
        *group = bytes.concat();
    }
    Some(Machine {
        id: Some(groups.join("-")),
        ..Machine::of(Cloud::Azure)
    })
}

/// `/<uuid>`, `<region>/<uuid>`.
fn by_uuid(cloud: Cloud, path: &str) -> Option<Machine> {
    let (zone, id) = path.rsplit_once('/').unwrap_or(("", path));
    let id = id.to_ascii_lowercase();
    is_uuid(&id).then(|| Machine {
        zone: some(zone.trim_matches('/')),
        id: Some(id),
        ..Machine::of(cloud)
    })
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is parsed, then cloud, account, zone, group, name, id.
    type Row = (&'static str, Cloud, [&'static str; 5]);

    const ROWS: &[Row] = &[
        (
            "gce://lab/us-central1-a/gke-lab-gpu-1a2b3c4d-x9z8",
            Cloud::Gcp,
            ["lab", "us-central1-a", "", "gke-lab-gpu-1a2b3c4d-x9z8", ""],
        ),
        (
            "projects/lab/zones/us-central1-a/instances/trainer-1",
            Cloud::Gcp,
            ["lab", "us-central1-a", "", "trainer-1", ""],
        ),
        (
            "https://www.googleapis.com/compute/v1/projects/lab/zones/z/instances/trainer-1",
            Cloud::Gcp,
            ["lab", "z", "", "trainer-1", ""],
        ),
        (
            "//compute.googleapis.com/projects/lab/zones/z/instances/1234567890123456789",
            Cloud::Gcp,
            ["lab", "z", "", "", "1234567890123456789"],
        ),
        (
            "aws:///us-east-1a/i-0123456789abcdef0",
            Cloud::Aws,
            ["", "us-east-1a", "", "", "i-0123456789abcdef0"],
        ),
        (
            "aws:////i-0123456789abcdef0",
            Cloud::Aws,
            ["", "", "", "", "i-0123456789abcdef0"],
        ),
        (
            "aws:///us-east-1a/fargate-ip-10-0-0-1.ec2.internal",
            Cloud::Aws,
            ["", "us-east-1a", "", "", "fargate-ip-10-0-0-1.ec2.internal"],
        ),
        ("i-01234567", Cloud::Aws, ["", "", "", "", "i-01234567"]),
        (
            "arn:aws:ec2:us-east-1:123456789012:instance/i-0123456789abcdef0",
            Cloud::Aws,
            ["123456789012", "", "", "", "i-0123456789abcdef0"],
        ),
        (
            "i-0123456789abcdef0.us-west-2.compute.internal",
            Cloud::Aws,
            [
                "",
                "",
                "",
                "i-0123456789abcdef0.us-west-2.compute.internal",
                "i-0123456789abcdef0",
            ],
        ),
        (
            "azure:///subscriptions/AAAA-1/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/gpu-1",
            Cloud::Azure,
            [
                "aaaa-1",
                "",
                "",
                "gpu-1",
                "/subscriptions/aaaa-1/resourcegroups/rg/providers/microsoft.compute/virtualmachines/gpu-1",
            ],
        ),
        (
            "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-12345678-vmss/virtualMachines/46",
            Cloud::Azure,
            [
                "s",
                "",
                "aks-gpu-12345678-vmss",
                "aks-gpu-12345678-vmss00001a",
                "/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachinescalesets/aks-gpu-12345678-vmss/virtualmachines/46",
            ],
        ),
        (
            "/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.COMPUTE/VIRTUALMACHINES/GPU-1/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
            Cloud::Azure,
            [
                "s",
                "",
                "",
                "gpu-1",
                "/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/gpu-1",
            ],
        ),
        (
            "azure:////04030201-0605-0807-090A-0B0C0D0E0F10",
            Cloud::Azure,
            ["", "", "", "", "01020304-0506-0708-090a-0b0c0d0e0f10"],
        ),
        (
            "openstack:///5f9c6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6",
            Cloud::OpenStack,
            ["", "", "", "", "5f9c6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6"],
        ),
        (
            "openstack://RegionOne/5f9c6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6",
            Cloud::OpenStack,
            [
                "",
                "RegionOne",
                "",
                "",
                "5f9c6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6",
            ],
        ),
        (
            "vsphere://5F9C6A1E-2B3C-4D5E-8F90-A1B2C3D4E5F6",
            Cloud::VSphere,
            ["", "", "", "", "5f9c6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6"],
        ),
    ];

    #[test]
    fn every_name_of_a_machine_is_understood() {
        for (text, cloud, parts) in ROWS {
            let [account, zone, group, name, id] = parts.map(some);
            let want = Machine {
                cloud: *cloud,
                account,
                zone,
                group,
                name,
                id,
            };
            assert_eq!(Machine::parse_provider_id(text), Some(want), "{text}");
        }
    }

    #[test]
    fn what_names_no_machine_is_none() {
        for text in [
            "",
            "gpu-7",
            "k3s://gpu-7",
            "gce://lab/us-central1-a",
            "aws:///us-east-1a/",
            "i-am-a-host",
            "ip-10-0-0-1.ec2.internal",
            "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/lb",
            "projects/lab/zones/z/instanceGroupManagers/g",
            "vsphere://not-a-uuid",
        ] {
            assert_eq!(Machine::parse_provider_id(text), None, "{text}");
        }
    }
}
