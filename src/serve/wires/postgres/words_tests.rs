use super::*;

fn command(text: &str) -> Command {
    let mut all = Prepared::all(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0).command
}

#[test]
fn transactions_and_settings_are_commands_and_the_rest_are_statements() {
    assert_eq!(command("begin;"), Command::Begin);
    assert_eq!(
        command("START TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
        Command::Begin
    );
    assert_eq!(command("END"), Command::End("COMMIT"));
    assert_eq!(
        command("ROLLBACK TO SAVEPOINT a"),
        Command::Done("ROLLBACK")
    );
    let set = |name: &str, value: &str| Command::Set(name.to_owned(), value.to_owned());
    assert_eq!(
        command("SET extra_float_digits = 3"),
        set("extra_float_digits", "3")
    );
    assert_eq!(
        command("SET SESSION application_name TO 'it''s'"),
        set("application_name", "it's")
    );
    assert_eq!(command("set time zone 'UTC'"), set("timezone", "UTC"));
    assert_eq!(
        command("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"),
        Command::Done("SET")
    );
    assert_eq!(
        command("SHOW transaction isolation level"),
        Command::Show("transaction_isolation".to_owned())
    );
    for statement in [
        "SHOW TABLES",
        "SELECT 1",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "DROP TABLE x",
        "\"begin\"",
    ] {
        assert_eq!(command(statement), Command::Query, "{statement}");
    }
}

#[test]
fn cursors_are_opened_fetched_and_closed() {
    assert_eq!(
        command("DECLARE \"My c\" NO SCROLL CURSOR WITHOUT HOLD FOR SELECT ';', E'a\\'b' FROM t"),
        Command::Declare("My c".to_owned(), "SELECT ';', E'a\\'b' FROM t".to_owned())
    );
    let fetch = |rows, is_returned| Command::Fetch {
        cursor: "c".to_owned(),
        rows,
        is_returned,
    };
    assert_eq!(command("FETCH FORWARD 100 FROM c"), fetch(Some(100), true));
    assert_eq!(command("fetch all in C"), fetch(None, true));
    assert_eq!(command("FETCH c"), fetch(Some(1), true));
    assert_eq!(command("MOVE 5 FROM c"), fetch(Some(5), false));
    assert_eq!(command("FETCH BACKWARD 1 FROM c"), Command::Query);
    assert_eq!(command("CLOSE ALL"), Command::Close(None));
}

#[test]
fn several_statements_are_taken_apart_at_their_own_semicolons() {
    let all = Prepared::all("BEGIN; SELECT 'a;b' -- ; no\n, $$;$$; ;COMMIT");
    let texts: Vec<&str> = all.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!((texts[0], texts[2]), ("BEGIN", "COMMIT"));
    assert!(texts[1].starts_with("SELECT 'a;b'") && texts[1].ends_with("$$;$$"));
    assert!(Prepared::all(" ; -- nothing\n").is_empty());
    // What is no SQL is told by whoever runs it.
    assert_eq!(Prepared::all("SELECT 'open").len(), 1);
}
