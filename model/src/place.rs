//! Regions and zones, as notices of clouds and labels of nodes write them.

use serde_json::Value;

use crate::event::Event;

/// A place's name in one spelling: a notice says `UK South` where a node says `uksouth`.
#[must_use]
pub fn normal(text: &str) -> String {
    let kept = text.chars().filter(|one| !one.is_whitespace());
    kept.flat_map(char::to_lowercase).collect()
}

/// The region of a zone, by how the clouds name zones: `us-central1-a`,
/// `us-west-2a`, `uksouth-1`; `None` for what is no zone.
#[must_use]
pub fn region_of(zone: &str) -> Option<&str> {
    let (head, tail) = zone.rsplit_once('-')?;
    let mut letters = tail
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .chars();
    let (letter, more) = (letters.next(), letters.next());
    match (letter, more) {
        (Some('a'..='z'), None) if tail.len() == 1 => Some(head),
        (Some('a'..='z'), None) => zone.get(..zone.len() - 1),
        // Azure numbers its zones, AWS its regions: those have a hyphen before.
        (None, _) if tail.len() == 1 && !head.contains('-') => Some(head),
        _ => None,
    }
    .filter(|region| !region.is_empty())
}

/// Sets in which places a notice is true: the attribute `places`, in one
/// spelling, parted by spaces. What is said to be everywhere is said of no place.
pub fn set_places<'a>(event: &mut Event, emitted: impl Iterator<Item = &'a str>) {
    let mut places: Vec<String> = emitted
        .map(normal)
        .filter(|place| !place.is_empty() && place != "global")
        .collect();
    places.sort_unstable();
    places.dedup();
    let text = (!places.is_empty()).then(|| Value::from(places.join(" ")));
    event.set_attribute("places", text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_say_their_region() {
        for (zone, region) in [
            ("us-central1-a", Some("us-central1")),
            ("us-west-2a", Some("us-west-2")),
            ("us-gov-west-1b", Some("us-gov-west-1")),
            ("uksouth-1", Some("uksouth")),
            ("us-west-2", None),
            ("us-central1", None),
            ("uksouth", None),
            ("us-west-2-lax-1a", Some("us-west-2-lax-1")),
            ("1", None),
            ("-a", None),
            ("", None),
        ] {
            assert_eq!(region_of(zone), region, "{zone}");
        }
        assert_eq!(normal("East US 2"), "eastus2");
    }
}
