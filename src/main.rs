//! x
use whathappened::{assemble, case, render};
use whathappened_connectors::recording::{Input, Options};
#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let inputs: Vec<Input> = args[1..].iter().map(|a| Input::Path(a.into())).collect();
    let rules = case::Rules::load(&[]).unwrap();
    let case = case::Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap();
    let t = std::time::Instant::now();
    let q = assemble::Question { name: args[0].clone(), ..Default::default() };
    match assemble::answer(&case, &q).await {
        Ok(a) => {
            eprintln!("{:?}", t.elapsed());
            let f = if std::env::var("J").is_ok() { render::Format::Json } else { render::Format::Table };
            render::answer(&a, f, &render::Style::default(), &mut std::io::stdout()).unwrap();
        }
        Err(e) => println!("{e} {:?}", e.hints()),
    }
}
