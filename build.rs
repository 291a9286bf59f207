//! Lists the rule files and the examples beside them, so that adding one
//! touches no code.

use std::path::Path;

fn main() {
    let folder = Path::new("queries/causes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    for (ending, list, file) in [
        (".sql", "FILES", "causes.rs"),
        (".yaml", "EXAMPLES", "examples.rs"),
    ] {
        let code = list_of(folder, ending, list);
        std::fs::write(Path::new(&out).join(file), code).expect("OUT_DIR can be written");
    }
}

/// A constant with name and text of each file of that ending.
fn list_of(folder: &Path, ending: &str, list: &str) -> String {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    let entries: Vec<String> = names
        .iter()
        .map(|name| {
            let path = format!("/{}/{name}", folder.display());
            format!("({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})))")
        })
        .collect();
    format!(
        "const {list}: &[(&str, &str)] = &[{}];\n",
        entries.join(", ")
    )
}
