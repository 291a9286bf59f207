//! Which region a machine is in, as its names tell.

/// The region of a zone: `us-east-1a`, the local zone `us-west-2-lax-1a`, the
/// wavelength zone `us-east-1-wl1-bos-wlz-1`. A region alone is its own.
pub(super) fn of_zone(zone: &str) -> Option<String> {
    let mut end = 0;
    for (number, part) in zone.split('-').enumerate() {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            // `us-east-1`, `us-gov-west-1`: words, then the number.
            return (number >= 2).then(|| zone[..end + digits].to_owned());
        }
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        end += part.len() + 1;
    }
    None
}

/// The region of a private DNS name: `ip-10-0-0-1.us-west-2.compute.internal`,
/// and `….ec2.internal`, which is of us-east-1.
pub(super) fn of_dns(name: &str) -> Option<String> {
    let (_, domain) = name.split_once('.')?;
    if domain == "ec2.internal" {
        return Some("us-east-1".to_owned());
    }
    let region = domain.strip_suffix(".compute.internal")?;
    of_zone(region).filter(|known| known == region)
}

/// Where a region's events are looked up in AWS Health, which each partition has once.
pub(super) fn of_health(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "cn-northwest-1"
    } else if region.starts_with("us-gov-") {
        "us-gov-west-1"
    } else {
        "us-east-1"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_names_tell_the_region() {
        for (zone, region) in [
            ("us-east-1a", Some("us-east-1")),
            ("us-gov-west-1b", Some("us-gov-west-1")),
            ("us-west-2-lax-1a", Some("us-west-2")),
            ("us-east-1-wl1-bos-wlz-1", Some("us-east-1")),
            ("ap-southeast-12c", Some("ap-southeast-12")),
            ("eu-west-3", Some("eu-west-3")),
            ("use1-az1", None),
            ("", None),
            ("rack-7", None),
            ("RegionOne", None),
        ] {
            assert_eq!(of_zone(zone).as_deref(), region, "{zone}");
        }
        for (name, region) in [
            ("ip-10-0-0-1.us-west-2.compute.internal", Some("us-west-2")),
            ("i-0123456789abcdef0.ec2.internal", Some("us-east-1")),
            ("gpu-7.example.internal", None),
            ("gpu-7", None),
        ] {
            assert_eq!(of_dns(name).as_deref(), region, "{name}");
        }
    }
}
