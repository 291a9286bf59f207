//! What `serve` would refuse of a configuration, found without starting anything.

use crate::case::Rules;
use crate::commands::common;
use crate::config::{Config, Serve};
use crate::error::Error;
use crate::serve::webhooks::Hooks;
use crate::serve::{Callers, Wires, check_provider};

/// Everything of it that `serve` would end with, or that keeps people from signing in.
pub(super) async fn refused(config: &Config) -> Vec<Error> {
    let serve = &config.serve;
    let rules =
        common::own_rules(config.rules.as_deref()).and_then(|own| Ok(Rules::load(&own).map(drop)?));
    let mut checks = vec![
        rules,
        Hooks::of(serve).map(drop),
        Callers::load(serve).map(drop),
        Wires::check(serve),
        check_provider(serve).await,
    ];
    for (place, address) in addresses(serve) {
        checks.push(is_address(place, address).await);
    }
    checks.into_iter().filter_map(Result::err).collect()
}

/// Where it would listen, and where that is said.
fn addresses(serve: &Serve) -> impl Iterator<Item = (&'static str, &str)> {
    let all = [
        ("[serve] listen", &serve.listen),
        ("[serve.syslog] listen", &serve.syslog.listen),
        ("[serve.postgres] listen", &serve.postgres.listen),
        ("[serve.flight] listen", &serve.flight.listen),
    ];
    let given = |(place, address): (&'static str, _)| Some((place, Option::as_deref(address)?));
    all.into_iter().filter_map(given)
}

/// Whether it is an address at all: another program, perhaps the service itself, may listen there now.
async fn is_address(place: &str, address: &str) -> Result<(), Error> {
    match tokio::net::lookup_host(address).await {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::cannot_listen(place, address, &error)),
    }
}
