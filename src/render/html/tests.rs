//! Pages of every shape of answer, and of names that attack them.

use super::super::fixtures::{all, everything, gpt2, hostile, large, row};
use super::super::{Format, Style, answer};
use super::CAP;
use crate::answer::Answer;

fn page(of: &Answer) -> String {
    let mut out = Vec::new();
    let style = Style {
        timeline_limit: None,
        ..Style::default()
    };
    answer(of, Format::Html, &style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The page without its own style and script.
fn body(page: &str) -> String {
    let without = |text: &str, begin: &str, end: &str| {
        let (head, rest) = text.split_once(begin).unwrap();
        let (_, tail) = rest.split_once(end).unwrap();
        format!("{head}{tail}")
    };
    without(
        &without(page, "<style>", "</style>"),
        "<script>",
        "</script>",
    )
}

/// Names of elements in order.
fn elements(page: &str) -> Vec<String> {
    let parts = page.split('<').skip(1);
    let name = |part: &str| {
        part.chars()
            .take_while(|c| !c.is_whitespace() && *c != '>')
            .collect()
    };
    parts.map(name).collect()
}

#[test]
fn pages_load_nothing_and_run_nothing_of_others() {
    for (name, answer) in all() {
        let page = page(&answer);
        // The picture's data runs nothing: browsers take it for text.
        let body = body(&page).replace("<script id=\"model\" type=\"application/json\">", "");
        for wrong in [
            "http:",
            "https:",
            " src=",
            "@import",
            "<script",
            "<img",
            "<link",
            "<iframe",
            " style=",
            "javascript:",
        ] {
            assert!(!body.contains(wrong), "{name}: {wrong}");
        }
        // What stands in quotes cannot have been closed, so an attribute begins after a space alone.
        assert!(
            !body.contains(" onclick=") && !body.contains(" onload="),
            "{name}"
        );
        let links = body.split(" href=\"").skip(1);
        assert!(links.clone().all(|link| link.starts_with('#')), "{name}");
        for link in links {
            let id = link[1..].split('"').next().unwrap();
            assert!(
                body.contains(&format!(" id=\"{id}\"")),
                "{name}: nothing is called {id}"
            );
        }
        assert!(page.len() < CAP, "{name}: {}", page.len());
    }
}

#[test]
fn ids_are_names_of_one_thing() {
    for (name, answer) in all() {
        let page = page(&answer);
        let mut ids: Vec<&str> = page
            .split(" id=\"")
            .skip(1)
            .filter_map(|part| part.split('"').next())
            .collect();
        let many = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), many, "{name}");
    }
}

#[test]
fn every_element_is_closed() {
    const EMPTY: [&str; 3] = ["meta", "input", "!DOCTYPE"];
    for (name, answer) in all() {
        let mut open: Vec<String> = Vec::new();
        for element in elements(&body(&page(&answer))) {
            match element.strip_prefix('/') {
                Some(end) => assert_eq!(open.pop().as_deref(), Some(end), "{name}"),
                None if EMPTY.contains(&element.as_str()) => {}
                None => open.push(element),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    }
}

#[test]
fn the_picture_is_complete_without_the_script() {
    let page = page(&gpt2());
    let svg = page.split("<svg id=\"drawing\"").nth(1).unwrap();
    let svg = svg.split("</svg>").next().unwrap();
    assert_eq!(svg.matches("<circle").count(), 5);
    assert_eq!(svg.matches("class=\"arrow").count(), 4);
    assert_eq!(svg.matches("class=\"mark death").count(), 3);
    assert!(svg.contains("url(#hatch)"), "denied sources are hatched");
    assert!(svg.contains("gke-train-a100-pool-7c1d-0004"));
    assert!(svg.contains("rank 1 · died first"));
    // The last row's time is open by a minute, and it is drawn so.
    assert!(svg.contains(" wide"));
}

/// What the script draws the picture from.
fn model(page: &str) -> serde_json::Value {
    let model = page.split("type=\"application/json\">").nth(1).unwrap();
    serde_json::from_str(model.split("</script>").next().unwrap()).unwrap()
}

/// The number of the folded lane of a kind.
fn folded_lane(model: &serde_json::Value, kind: &str) -> usize {
    let groups = model["groups"].as_array().unwrap();
    let group = groups.iter().position(|one| one["key"] == kind).unwrap();
    let lanes = model["lanes"].as_array().unwrap();
    let is_folded = |lane: &serde_json::Value| lane[0] == group && lane[3].as_u64().unwrap() > 0;
    lanes.iter().position(is_folded).unwrap()
}

#[test]
fn a_mark_of_many_stands_on_the_folded_lane_itself() {
    let model = model(&page(&large()));
    let lane = folded_lane(&model, "pods");
    let marks = model["marks"].as_array().unwrap().iter();
    let own: Vec<_> = marks.filter(|mark| mark[0] == lane).collect();
    // Places within the lane are for when it is open, and what stands there is one thing.
    let together: Vec<_> = own.iter().filter(|mark| mark[6] != 1).collect();
    assert!(!together.is_empty(), "{own:?}");
    assert!(together.iter().all(|mark| mark[1] == -1), "{together:?}");
    let of_all: u64 = own
        .iter()
        .filter(|mark| mark[1] == -1)
        .map(|mark| mark[6].as_u64().unwrap())
        .sum();
    let within = own.iter().filter(|mark| mark[1] != -1).count();
    assert!(within > 0 && of_all >= within as u64, "{of_all} {within}");
}

#[test]
fn machines_of_a_folded_lane_have_their_states() {
    let mut many = gpt2();
    for number in 0..20 {
        let name = format!("node-{number:02}");
        let mut down = row(10.0, "node", &name, "not ready");
        down.signals = vec!["k8s.node.not_ready".to_owned()];
        let mut cordoned = row(20.0, "node", &name, "cordoned");
        cordoned.signals = vec!["k8s.node.cordoned".to_owned()];
        let mut up = row(40.0, "node", &name, "ready");
        up.signals = vec!["k8s.node.ready".to_owned()];
        many.timeline.extend([down, cordoned, up]);
    }
    let model = model(&page(&many));
    let lane = folded_lane(&model, "machines");
    let bars = model["bars"].as_array().unwrap().iter();
    let own: Vec<_> = bars.filter(|bar| bar[0] == lane).collect();
    let members = model["lanes"][lane][4].as_array().unwrap().len();
    assert!(members > 10);
    for member in 0..members {
        let states: Vec<&str> = own
            .iter()
            .filter(|bar| bar[1] == member)
            .map(|bar| bar[5].as_str().unwrap())
            .collect();
        assert_eq!(states, ["not ready", "cordoned, no end seen"], "{own:?}");
    }
    // Where it is folded, they stand for no single machine.
    assert!(own.iter().all(|bar| bar[1] != -1), "{own:?}");
}

#[test]
fn the_incidents_of_everything_come_before_what_is_missing() {
    let place = |page: &str, id: &str| page.find(&format!("<section id=\"{id}\"")).unwrap();
    let all = page(&everything());
    assert!(place(&all, "others") < place(&all, "missing"));
    // Beside one incident the others are less than what it lacks.
    let mut one = gpt2();
    one.incidents.push(one.incidents[0].clone());
    one.incidents[1].role = crate::answer::IncidentRole::Also;
    let one = page(&one);
    assert!(place(&one, "missing") < place(&one, "others"));
}

#[test]
fn the_legend_shows_what_could_not_be_seen_without_the_picture() {
    let page = page(&gpt2());
    let legend = page.split("<ul class=\"legend\">").nth(1).unwrap();
    let legend = legend.split("</ul>").next().unwrap();
    assert!(
        legend.contains("hatch-line") && !legend.contains("url("),
        "{legend}"
    );
}

#[test]
fn the_verdict_is_that_of_the_other_formats() {
    let incident = &gpt2().incidents[0];
    let page = page(&gpt2());
    assert!(page.contains(&incident.summary));
    for text in [
        "Node stopped responding",
        "node.not_ready",
        "established",
        "taint-eviction-controller",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn what_others_wrote_stays_in_its_cell() {
    let nasty = [
        "<script>alert(1)</script>",
        "</script></style></title></svg>",
        "\" onload=\"x\" a=\"",
        "' onclick='x",
        "<!-- ]]> -->",
        "\u{202e}\u{2066}evil\u{200f}",
        "\u{1b}[31m\u{0}\u{7}\u{9b}",
        "&lt;b&gt;",
        "javascript:alert(1)",
    ];
    let mut plain = gpt2();
    plain.timeline.push(row(50.0, "log", "name", "text"));
    let spoil = |nasty: &str| {
        let mut spoiled = plain.clone();
        let spoiled_row = spoiled.timeline.last_mut().unwrap();
        spoiled_row.entity = format!("name{nasty}");
        spoiled_row.text = format!("text{nasty}");
        spoiled_row.actor = Some(nasty.to_owned());
        spoiled_row.seen_by = vec![nasty.to_owned()];
        spoiled.incidents[0].summary.push_str(nasty);
        spoiled.incidents[0].chain[0].text.push_str(nasty);
        spoiled.incidents[0].evidence[0]["message"] = nasty.into();
        spoiled.incidents[0].evidence[0]["raw"] = nasty.into();
        spoiled.coverage[0].source.push_str(nasty);
        spoiled.runs[0].owner = Some(nasty.to_owned());
        spoiled.experiment = Some(nasty.to_owned());
        page(&spoiled)
    };
    // Not a word: those are offered as sources to filter by, and no other text is.
    let wanted = elements(&body(&spoil("harmless text")));
    for nasty in nasty {
        let page = spoil(nasty);
        assert_eq!(elements(&body(&page)), wanted, "{nasty:?}");
        let invisible = |c: char| {
            c.is_control() && c != '\n'
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c)
                || c == '\u{200f}'
        };
        assert!(!body(&page).contains(invisible), "{nasty:?}");
    }
    assert!(page(&hostile()).len() < CAP);
}

#[test]
fn long_words_cost_no_more_than_their_cell() {
    let mut huge = gpt2();
    let word = "x".repeat(1_000_000);
    huge.timeline[6].text.clone_from(&word);
    huge.timeline[7].entity.clone_from(&word);
    huge.incidents[0].summary.clone_from(&word);
    huge.incidents[0].evidence[0]["raw"] = word.clone().into();
    huge.runs[0].name = word;
    assert!(page(&huge).len() < page(&gpt2()).len() + 30_000);
}

#[test]
fn a_page_has_a_cap_and_says_what_it_leaves_out() {
    let mut many = large();
    let rows = std::mem::take(&mut many.timeline);
    while many.timeline.len() < 100_000 {
        many.timeline.extend(rows.iter().cloned());
    }
    for row in &mut many.timeline {
        row.text = "<&\"".repeat(300);
    }
    let victim = many.incidents[0].first_victim.clone().unwrap();
    for number in 0..10_000 {
        let mut other = victim.clone();
        other.pod = format!("pod-{number}");
        many.incidents[0].collateral.push(other);
    }
    let page = page(&many);
    assert!(page.len() < CAP, "{}", page.len());
    assert!(page.contains("left out of this page"));
    // Nor does the picture pass for whole.
    assert!(page.contains("farthest from the chain are not drawn: "));
    assert!(page.contains("more pods"));
    assert!(page.matches("id=\"r").count() > 300);
}
