//! Lists the rule files, so that adding one touches no code.

use std::path::Path;

fn main() {
    let folder = Path::new("queries/causes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".sql"))
        .collect();
    names.sort();
    let list: Vec<String> = names
        .iter()
        .map(|name| format!("({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/queries/causes/{name}\")))"))
        .collect();
    let code = format!("const FILES: &[(&str, &str)] = &[{}];\n", list.join(", "));
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    std::fs::write(Path::new(&out).join("causes.rs"), code).expect("OUT_DIR can be written");
}
