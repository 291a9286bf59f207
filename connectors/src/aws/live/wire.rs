//! XML of AWS as the JSON that its command line prints.
//!
//! EC2 writes `instancesSet/item/instanceId` where the command line prints
//! `Instances[].InstanceId`; Auto Scaling and STS have the command line's names
//! and `member` for items. Numbers and truths stay text, as the decoders take
//! them; what is empty is left out.

use serde_json::{Map, Value};

use super::xml::Element;

/// What the rules do not tell: the list it stands in, EC2's name, the command line's.
const NAMES: [(&str, &str, &str); 6] = [
    ("", "instanceStatusSet", "InstanceStatuses"),
    ("instancesSet", "instanceState", "State"),
    ("instancesSet", "reason", "StateTransitionReason"),
    ("instancesSet", "dnsName", "PublicDnsName"),
    ("instancesSet", "ipAddress", "PublicIpAddress"),
    ("instancesSet", "blockDeviceMapping", "BlockDeviceMappings"),
];

/// The fields of an element.
pub(super) fn fields(element: &Element) -> Map<String, Value> {
    object(element, "")
}

/// `within`: the name of the list that the element stands in.
fn object(element: &Element, within: &str) -> Map<String, Value> {
    let known = element
        .children
        .iter()
        .filter_map(|child| Some((name(child, within), value(child, within)?)));
    known.collect()
}

fn value(element: &Element, within: &str) -> Option<Value> {
    if element.children.is_empty() {
        let text = element.text.trim();
        return (!text.is_empty()).then(|| Value::String(plain(text)));
    }
    if !is_list(element) {
        return Some(Value::Object(object(element, within)));
    }
    let items = element.children.iter();
    Some(Value::Array(
        items
            .filter_map(|item| value(item, &element.name))
            .collect(),
    ))
}

fn is_list(element: &Element) -> bool {
    let mut children = element.children.iter();
    children.all(|child| matches!(child.name.as_str(), "item" | "member"))
}

fn name(element: &Element, within: &str) -> String {
    let own = element.name.as_str();
    let known = NAMES
        .iter()
        .find(|(list, name, _)| *name == own && (list.is_empty() || *list == within));
    if let Some((_, _, name)) = known {
        return (*name).to_owned();
    }
    // `tagSet`, `instancesSet`; `status` is no set.
    let (stem, plural) = match own.strip_suffix("Set") {
        Some(stem) if stem.ends_with('s') => (stem, ""),
        Some(stem) => (stem, "s"),
        None => (own, ""),
    };
    let mut letters = stem.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first
        .into_iter()
        .chain(letters)
        .chain(plural.chars())
        .collect()
}

/// EC2 writes whole seconds as `…:15.000Z`, which claims more than it knows.
fn plain(text: &str) -> String {
    let whole = text
        .strip_suffix(".000Z")
        .filter(|rest| rest.len() == 19 && rest.as_bytes().get(10) == Some(&b'T'));
    whole.map_or_else(|| text.to_owned(), |rest| format!("{rest}Z"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::xml::parse;
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        let xml = "<DescribeInstancesResponse><requestId>q</requestId><reservationSet><item><ownerId>1</ownerId>
            <groupSet/><instancesSet><item><instanceId>i-1</instanceId><instanceState><code>16</code><name>running</name></instanceState>
            <reason/><tagSet><item><key>a</key><value>b</value></item></tagSet><networkInterfaceSet><item><status>in-use</status></item></networkInterfaceSet>
            </item></instancesSet></item></reservationSet></DescribeInstancesResponse>";
        let want = json!({"RequestId": "q", "Reservations": [{"OwnerId": "1", "Instances": [{
            "InstanceId": "i-1", "State": {"Code": "16", "Name": "running"}, "Tags": [{"Key": "a", "Value": "b"}],
            "NetworkInterfaces": [{"Status": "in-use"}]}]}]});
        assert_eq!(Value::Object(fields(&parse(xml.as_bytes()).unwrap())), want);
        let xml = "<R><instanceStatusSet><item><instanceState><name>running</name></instanceState>
            <eventsSet><item><code>system-reboot</code></item></eventsSet></item></instanceStatusSet></R>";
        let want = json!({"InstanceStatuses": [{"InstanceState": {"Name": "running"}, "Events": [{"Code": "system-reboot"}]}]});
        assert_eq!(Value::Object(fields(&parse(xml.as_bytes()).unwrap())), want);
        let xml = "<R><Activities><member><Progress>50</Progress></member></Activities></R>";
        let want = json!({"Activities": [{"Progress": "50"}]});
        assert_eq!(Value::Object(fields(&parse(xml.as_bytes()).unwrap())), want);
    }

    #[test]
    fn whole_seconds_claim_no_more() {
        for (text, emitted) in [
            ("2026-11-21T15:20:15.000Z", "2026-11-21T15:20:15Z"),
            ("2026-11-21T15:20:15.120Z", "2026-11-21T15:20:15.120Z"),
            ("v1.000Z", "v1.000Z"),
        ] {
            assert_eq!(plain(text), emitted);
        }
    }
}
