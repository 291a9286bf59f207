//! `docs/sql.md` says what there is, and its examples run.

use super::catalog::all;
use super::column::DESCRIPTION;
use super::prompt::type_name;
use super::tests::session;

const PAGE: &str = "docs/sql.md";
const TABLES: &str = "<!-- written by a test -->\n";

/// The tables of the page; `BLESS=1 cargo test --lib sql` writes them.
#[test]
fn the_page_lists_every_column() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (head, _) = page.split_once(TABLES).expect("the marker of the tables");
    let wanted = format!("{head}{TABLES}{}", tables());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PAGE, &wanted).unwrap();
    }
    assert!(
        page == wanted || std::env::var_os("BLESS").is_some(),
        "run with BLESS=1 to write {PAGE}"
    );
}

fn tables() -> String {
    let mut text = String::new();
    for table in all() {
        let name = if table.is_function {
            format!("{}('experiment')", table.name)
        } else {
            table.name.to_owned()
        };
        text.push_str(&format!(
            "\n### `{name}`\n\nA row is {}.\n\n| column | type | meaning |\n|---|---|---|\n",
            table.meaning
        ));
        for field in table.schema.fields() {
            let meaning = field
                .metadata()
                .get(DESCRIPTION)
                .cloned()
                .unwrap_or_default()
                .replace('|', "\\|");
            text.push_str(&format!(
                "| `{}` | {} | {meaning} |\n",
                field.name(),
                type_name(field.data_type())
            ));
        }
    }
    text
}

#[tokio::test]
async fn the_examples_of_the_page_answer() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let examples: Vec<&str> = page
        .split("```sql\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(examples.len() >= 10);
    for example in examples {
        match session().query(example).await {
            Ok(rows) => assert!(
                rows.iter().any(|batch| batch.num_rows() > 0),
                "no rows: {example}"
            ),
            Err(error) => panic!("{example}: {error}"),
        }
    }
}
