//! Incidents of runs that were there at the time of the one which leads an answer: these are no earlier ones.

use whathappened_model::time::Stamp;

use crate::answer::{Incident, IncidentRole, Run};

/// Says of what befell them that it happened as well.
pub(super) fn mark(runs: &[Run], incidents: &mut [Incident]) {
    let Some(leading) = runs.first() else {
        return;
    };
    for incident in incidents {
        let own = runs
            .iter()
            .find(|run| Some(&run.id) == incident.run_id.as_ref());
        if incident.role == IncidentRole::Earlier
            && own.is_some_and(|own| own.id != leading.id && are_beside(times(own), times(leading)))
        {
            incident.role = IncidentRole::Also;
        }
    }
}

/// When a run began and ended, in RFC 3339.
type Times<'a> = (Option<&'a str>, Option<&'a str>);

fn times(run: &Run) -> Times<'_> {
    (run.start.as_deref(), run.end.as_deref())
}

/// Whether two runs were there at one time: one of which no end is known may have been over before.
fn are_beside(own: Times<'_>, leading: Times<'_>) -> bool {
    let over = |(_, end): Times<'_>, (start, _): Times<'_>| {
        let end = Stamp::parse(end?)?;
        Some(end.lo <= Stamp::parse(start?)?.lo)
    };
    over(own, leading) == Some(false) && !over(leading, own).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_there_at_that_time_is_no_earlier_one() {
        let leading = (Some("2026-02-03T10:00:00Z"), Some("2026-02-03T10:00:15Z"));
        for (start, end, beside) in [
            ("2026-02-03T10:00:02Z", "2026-02-03T10:00:17.5Z", true),
            ("2026-02-03T09:00:00Z", "2026-02-03T10:00:00.5Z", true),
            ("2026-02-03T09:00:00Z", "2026-02-03T10:00:00Z", false),
            ("2026-02-03T10:00:15Z", "2026-02-03T10:01:00Z", false),
        ] {
            assert_eq!(
                are_beside((Some(start), Some(end)), leading),
                beside,
                "{start}"
            );
        }
        assert!(!are_beside((Some("2026-02-03T09:00:00Z"), None), leading));
    }
}
