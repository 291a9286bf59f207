//! The wires that database clients speak.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::Error;

/// One wire: `[serve.postgres]` or `[serve.flight]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wire {
    /// Where it listens, such as `127.0.0.1:5432`; it is off without.
    pub listen: Option<String>,
    /// The certificate and those above it, in PEM.
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM.
    pub tls_key: Option<PathBuf>,
    /// Whether tokens may come without TLS from other machines, where something on the
    /// way encrypts them.
    pub allow_plaintext: bool,
    /// Connections at once; more are refused.
    pub connections: usize,
}

impl Default for Wire {
    fn default() -> Self {
        Self {
            listen: None,
            tls_cert: None,
            tls_key: None,
            allow_plaintext: false,
            connections: 64,
        }
    }
}

impl Wire {
    /// Where it listens, if it does. `section` is its name in the file, `feature` the one that
    /// builds it, and `is_built` whether this program has it.
    ///
    /// # Errors
    /// When it is asked for and this program has none, when half of a certificate is
    /// named, or when tokens would come over the network in the clear.
    pub fn address(&self, feature: &str, is_built: bool) -> Result<Option<&str>, Error> {
        let section = format!("[serve.{feature}]");
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err(Error::misused(
                format!("{section} names only one of tls_cert and tls_key"),
                "set both, or neither",
            ));
        }
        let Some(listen) = self.listen.as_deref() else {
            return Ok(None);
        };
        if !is_built {
            return Err(Error::misused(
                format!("{section} is configured, but this program was built without it"),
                format!("build it with `cargo build --features {feature}`, or remove {section}"),
            ));
        }
        if self.connections == 0 {
            return Err(Error::misused(
                format!("{section} connections must be at least 1"),
                "remove listen to turn it off",
            ));
        }
        let is_clear = self.tls_cert.is_none() && !self.allow_plaintext;
        if is_clear && !is_of_this_machine(listen) {
            return Err(Error::misused(
                format!(
                    "{section} listens on {listen} without TLS: tokens could be read on the network"
                ),
                "set tls_cert and tls_key, listen on 127.0.0.1, or set allow_plaintext = true \
                 where something in front of it encrypts connections",
            ));
        }
        Ok(Some(listen))
    }
}

/// Whether only this machine reaches an address. A name may be anything.
fn is_of_this_machine(listen: &str) -> bool {
    let address = listen.parse::<SocketAddr>();
    address.is_ok_and(|address| address.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(text: &str) -> Wire {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_wire_is_off_until_it_listens() {
        assert_eq!(wire("").address("postgres", false).unwrap(), None);
        let local = wire("listen = '127.0.0.1:5432'");
        assert_eq!(
            local.address("postgres", true).unwrap(),
            Some("127.0.0.1:5432")
        );
        assert_eq!(local.connections, 64);
    }

    #[test]
    fn what_the_program_has_not_is_refused_with_the_feature_that_has_it() {
        let error = wire("listen = '127.0.0.1:5432'")
            .address("postgres", false)
            .unwrap_err();
        assert!(error.to_string().contains("[serve.postgres]"), "{error}");
        let hints = error.hints().join(" ");
        assert!(hints.contains("--features postgres"), "{hints}");
    }

    #[test]
    fn tokens_never_cross_a_network_in_the_clear_by_accident() {
        for open in ["0.0.0.0:5432", "[::]:5432", "db.example:5432"] {
            let listen = format!("listen = '{open}'");
            assert!(wire(&listen).address("postgres", true).is_err(), "{open}");
            let tls = format!("{listen}\ntls_cert = 'a'\ntls_key = 'b'");
            assert!(wire(&tls).address("postgres", true).is_ok());
            let known = format!("{listen}\nallow_plaintext = true");
            assert!(wire(&known).address("postgres", true).is_ok());
        }
        assert!(
            wire("listen = '[::1]:5432'")
                .address("flight", true)
                .is_ok()
        );
        assert!(wire("tls_cert = 'a'").address("flight", true).is_err());
        assert!(toml::from_str::<Wire>("tls = 'a'").is_err());
    }
}
