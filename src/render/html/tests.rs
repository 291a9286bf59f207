//! Pages of every shape of answer, and of names that attack them.

use super::super::fixtures::{all, everything, gpt2, hostile, large, row};
use super::super::{Format, Style, answer};
use super::{CAP, site};

/// The texts that a browser is shown as well.
#[path = "../../../tests/it/pages/attacks.rs"]
mod attacks;
use self::attacks::ATTACKS;

use crate::answer::Answer;
use whathappened_core::death::RunState;

pub(super) fn page(of: &Answer) -> String {
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
pub(super) fn model(page: &str) -> serde_json::Value {
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
    let nasty = nasty.into_iter().chain(ATTACKS);
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
        let raw = crate::answer::DrawnRecord {
            place: nasty.to_owned(),
            raw: Some(nasty.to_owned()),
        };
        let ids = spoiled.timeline.iter().flat_map(|row| &row.event_ids);
        let records = ids.map(|id| (id.clone(), raw.clone())).collect();
        let served = site::AnswerPage::of(&spoiled, &site::AnswerView::default());
        let served = served.around(&site::Frame::default());
        spoiled.drawn.records = records;
        (page(&spoiled), served)
    };
    // A word is offered as a source to filter by, and no other text is.
    let is_word = |text: &str| text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let wanted = |text: &str| {
        let harmless = if is_word(text) {
            "harmless"
        } else {
            "harmless text"
        };
        let (file, served) = spoil(harmless);
        (elements(&body(&file)), elements(&served))
    };
    for nasty in nasty {
        let (page, served) = spoil(nasty);
        let (file_wanted, served_wanted) = wanted(nasty);
        assert_eq!(elements(&body(&page)), file_wanted, "{nasty:?}");
        assert_eq!(elements(&served), served_wanted, "{nasty:?}");
        let invisible = |c: char| {
            // Lines and tabs of a record are its own.
            c.is_control() && !matches!(c, '\n' | '\t')
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c)
                || c == '\u{200f}'
        };
        assert!(!body(&page).contains(invisible), "{nasty:?}");
    }
    assert!(page(&hostile()).len() < CAP);
}

/// The answer with a record behind each of its rows.
fn with_records(mut told: Answer, raw: &str) -> Answer {
    let rows = told.timeline.iter().enumerate();
    let record = |at: usize| crate::answer::DrawnRecord {
        place: format!("input/pods.json:{at}"),
        raw: Some(format!("{at} {raw}")),
    };
    let ids = rows.filter_map(|(at, row)| Some((row.event_ids.first()?.clone(), record(at))));
    told.drawn.records = ids.collect();
    told
}

/// The records that came with a page.
fn records(page: &str) -> serde_json::Value {
    let text = page
        .split("<script id=\"records\" type=\"application/json\">")
        .nth(1)
        .unwrap();
    serde_json::from_str(text.split("</script>").next().unwrap()).unwrap()
}

#[test]
fn a_file_has_the_record_behind_each_row() {
    let told = with_records(gpt2(), "a record </script><b>");
    let page = page(&told);
    assert!(!page.contains("a record </script>"));
    let records = records(&page);
    assert_eq!(records["left_out"], 0);
    let evidence: Vec<&str> = told.incidents[0]
        .evidence
        .iter()
        .filter_map(|row| row["id"].as_str())
        .collect();
    for (at, row) in told.timeline.iter().enumerate() {
        let own = &records["rows"][at.to_string()];
        // What stands among the evidence stands there whole.
        if evidence.contains(&row.event_ids[0].as_str()) {
            assert!(own.is_null(), "{own}");
            continue;
        }
        assert!(
            own[0].as_str().unwrap().starts_with("input/pods.json:"),
            "{own}"
        );
        let text = &records["texts"][usize::try_from(own[1].as_u64().unwrap()).unwrap()];
        assert!(
            text.as_str().unwrap().ends_with("a record </script><b>"),
            "{text}"
        );
    }
    // Nothing is brought that nobody asked for.
    assert!(!self::page(&gpt2()).contains("id=\"records\""));
}

#[test]
fn records_that_do_not_fit_are_counted_and_those_of_the_chain_are_kept() {
    let mut many = large();
    let rows = many.timeline.clone();
    let mut number = 0_u32;
    while many.timeline.len() < 2_500 {
        many.timeline.extend(rows.iter().cloned().map(|mut row| {
            number += 1;
            row.event_ids = vec![format!("{number:032x}")];
            row.in_chain = false;
            row
        }));
    }
    let told = with_records(many, &"words of a record ".repeat(200));
    let page = page(&told);
    assert!(
        page.len() < CAP && page.len() > CAP - 200_000,
        "{}",
        page.len()
    );
    let records = records(&page);
    let kept = records["rows"].as_object().unwrap().len();
    let left_out = records["left_out"].as_u64().unwrap();
    assert!(kept > 100 && left_out > 100, "{kept} {left_out}");
    for (at, row) in told
        .timeline
        .iter()
        .enumerate()
        .filter(|(_, row)| row.in_chain)
    {
        let among_evidence = told.incidents[0]
            .evidence
            .iter()
            .any(|one| one["id"] == row.event_ids[0].as_str());
        assert!(
            among_evidence || records["rows"][at.to_string()].is_array(),
            "{at}"
        );
    }
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

#[test]
fn who_followed_is_counted_by_how_they_ended_and_opens_on_demand() {
    let mut many = large();
    let collateral = &mut many.incidents[0].collateral;
    let victim = collateral[0].clone();
    for number in 0..9_000 {
        let mut other = victim.clone();
        other.pod = format!("pod-{number}");
        other.how = "exit 143".to_owned();
        collateral.push(other);
    }
    let text = page(&many);
    let begin = text.find("<details class=\"followed\">").unwrap();
    let opened = &text[begin..begin + text[begin..].find("</details>").unwrap()];
    let ways = ["<b>9,000</b> × ", "<b>505</b> × ", "<b>6</b> × "];
    let places: Vec<usize> = ways.map(|way| opened.find(way).unwrap()).to_vec();
    assert!(places.is_sorted(), "{places:?}");
    assert!(opened.contains("pod-0</bdi>, <bdi>pod-1<"), "{opened}");
    assert!(opened.contains(" and 8,834 more"), "{opened}");
    // One that followed alone is named by its step.
    let mut few = large();
    few.incidents[0].collateral.truncate(1);
    assert!(!page(&few).contains("class=\"followed\""));
}

#[test]
fn the_last_attempt_of_a_run_that_was_deleted_did_not_fail() {
    let mut told = gpt2();
    let run = &mut told.runs[0];
    let last = run.attempts.last_mut().unwrap();
    last.state = RunState::Failed;
    let number = last.number;
    let words = |state: &str| format!("attempt {number}: {state}");
    assert!(page(&told).contains(&words("failed")));
    told.runs[0].state = RunState::Deleted;
    let page = page(&told);
    assert!(page.contains(&words("deleted")) && !page.contains(&words("failed")));
}
