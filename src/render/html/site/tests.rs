//! Pages of hostile names: they stay text.

use super::super::super::fixtures;
use super::{AnswerPage, AnswerView, Frame, bounce, login, problem};
use crate::answer::{Level, PastVerdict};

const HOSTILE: &str = "</title></textarea><script>alert(1)</script>\u{202e}\"'&";

fn judge(page: &str) {
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains('\u{202e}'), "{page}");
    assert!(
        !page.contains(" style=") && !page.contains(" onclick="),
        "{page}"
    );
}

#[test]
fn names_from_outside_are_text() {
    let frame = Frame {
        caller: Some(HOSTILE.to_owned()),
        query: HOSTILE.replace('\u{202e}', ""),
        ..Frame::default()
    };
    judge(&problem(
        &frame,
        HOSTILE,
        HOSTILE,
        &[HOSTILE.to_owned()],
        &[HOSTILE.to_owned()],
    ));
    judge(&login(
        &HOSTILE.replace('\u{202e}', ""),
        Some(HOSTILE),
        Some(HOSTILE),
    ));
    judge(&bounce("/x/%3Cscript%3E?q=\"><script>alert(1)</script>"));
    let verdict = |title: &str| PastVerdict {
        time: "2026-11-20T10:00:00Z".to_owned(),
        cause: HOSTILE.to_owned(),
        level: Level::Unknown,
        title: title.to_owned(),
        summary: HOSTILE.to_owned(),
        ruleset: HOSTILE.to_owned(),
    };
    let view = AnswerView {
        verdicts: &[verdict(HOSTILE), verdict("")],
        experiment: Some(HOSTILE),
        ..AnswerView::default()
    };
    for told in [fixtures::gpt2(), fixtures::hostile()] {
        let page = AnswerPage::of(&told, &view).around(&frame);
        judge(&page);
        assert!(page.contains("How this verdict changed"), "{page}");
    }
}
