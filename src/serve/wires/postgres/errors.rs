//! What went wrong, in PostgreSQL's codes.

use pgwire::error::{ErrorInfo, PgWireError};

use crate::serve::statement::StatementError;

/// An error that the connection outlives.
pub(super) fn error(code: &str, text: impl Into<String>) -> PgWireError {
    let info = ErrorInfo::new("ERROR".to_owned(), code.to_owned(), text.into());
    PgWireError::UserError(Box::new(info))
}

/// An error that ends the connection.
pub(super) fn fatal(code: &str, text: &str) -> PgWireError {
    let info = ErrorInfo::new("FATAL".to_owned(), code.to_owned(), text.to_owned());
    PgWireError::UserError(Box::new(info))
}

/// Why a statement was not answered.
pub(super) fn halted(halted: &StatementError) -> PgWireError {
    let text = halted.to_string();
    let mut info = ErrorInfo::new("ERROR".to_owned(), code(halted, &text).to_owned(), text);
    let hints = halted.hints();
    info.hint = (!hints.is_empty()).then(|| hints.join("; "));
    PgWireError::UserError(Box::new(info))
}

fn code(halted: &StatementError, text: &str) -> &'static str {
    match halted {
        StatementError::Refused(..) => refused(text),
        StatementError::Late(_) => "57014",
        StatementError::Large(_) => "53200",
        StatementError::Long(_) => "54000",
        StatementError::Broke(_) => "54001",
        StatementError::Busy => "53300",
        StatementError::Inside(_) => "XX000",
    }
}

/// Clients tell a table that is not there from a mistake.
fn refused(text: &str) -> &'static str {
    let known = [
        ("is not allowed", "25006"),
        ("there is no table", "42P01"),
        ("there is no column", "42703"),
        ("No field named", "42703"),
        ("no function", "42883"),
        ("parameters, but", "08P01"),
        ("a value of a parameter", "22P02"),
        ("at most", "54001"),
    ];
    let found = known.iter().find(|(part, _)| text.contains(part));
    found.map_or("42601", |(_, code)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_learn_what_kind_of_error_it_is() {
        let refused = |text: &str| StatementError::Refused(text.to_owned(), vec!["so".to_owned()]);
        let of = |error: &StatementError| match halted(error) {
            PgWireError::UserError(info) => (info.code.clone(), info.hint.clone()),
            other => panic!("{other}"),
        };
        assert_eq!(
            of(&refused("DELETE is not allowed: it is read-only")),
            ("25006".to_owned(), Some("so".to_owned()))
        );
        assert_eq!(of(&refused("there is no table \"x\"")).0, "42P01");
        assert_eq!(of(&refused("Expected: an expression")).0, "42601");
        let late = StatementError::Late(std::time::Duration::from_secs(30));
        assert_eq!(of(&late).0, "57014");
    }
}
