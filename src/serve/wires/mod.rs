//! The wires that database clients speak, beside the API's SQL: `PostgreSQL`'s and
//! Arrow Flight SQL's. Each is a feature of the program.
//!
//! A statement that comes by a wire goes the way of the API's: the same callers and
//! rights, the same child process with its limits, the same audit trail.

#[cfg(any(feature = "flight", feature = "postgres"))]
mod audited;
#[cfg(feature = "flight")]
mod flight;
#[cfg(any(feature = "flight", feature = "postgres"))]
mod listening;
#[cfg(feature = "postgres")]
mod postgres;

use std::sync::Arc;

#[cfg(any(feature = "flight", feature = "postgres"))]
use whathappened_http::choose_encryption;
use whathappened_model::connector::Stop;

use super::Service;
use crate::config::Serve;
use crate::error::Error;

/// The wires that are configured, each listening.
#[derive(Debug)]
pub struct Wires {
    #[cfg(feature = "postgres")]
    postgres: Option<postgres::Wire>,
    #[cfg(feature = "flight")]
    flight: Option<flight::Wire>,
}

impl Wires {
    /// Looks whether what is configured could be opened, without opening it.
    ///
    /// # Errors
    /// When a wire is configured that this program has not, or half of it.
    pub fn check(config: &Serve) -> Result<(), Error> {
        let is_built = cfg!(feature = "postgres");
        config.postgres.address("postgres", is_built)?;
        config.flight.address("flight", cfg!(feature = "flight"))?;
        Ok(())
    }

    /// Opens what is configured.
    ///
    /// # Errors
    /// When a wire is configured that this program has not, or its address or
    /// certificate cannot be used.
    pub async fn open(config: &Serve) -> Result<Self, Error> {
        let postgres = config
            .postgres
            .address("postgres", cfg!(feature = "postgres"))?;
        let flight = config.flight.address("flight", cfg!(feature = "flight"))?;
        // Where several could encrypt, certificates are not read before one is chosen.
        #[cfg(any(feature = "flight", feature = "postgres"))]
        choose_encryption();
        #[cfg(not(feature = "postgres"))]
        let _none = postgres;
        #[cfg(not(feature = "flight"))]
        let _none = flight;
        Ok(Self {
            #[cfg(feature = "postgres")]
            postgres: match postgres {
                Some(address) => Some(postgres::Wire::open(address, &config.postgres).await?),
                None => None,
            },
            #[cfg(feature = "flight")]
            flight: match flight {
                Some(address) => Some(flight::Wire::open(address, &config.flight).await?),
                None => None,
            },
        })
    }

    /// Serves until `stop`. Says of each wire where it is.
    pub fn run(self, service: &Arc<Service>, stop: &Stop, say: &dyn Fn(&str)) {
        #[cfg(feature = "postgres")]
        if let Some(wire) = self.postgres {
            say(&format!("PostgreSQL's wire on {}", wire.address()));
            tokio::spawn(wire.run(Arc::clone(service), stop.clone()));
        }
        #[cfg(feature = "flight")]
        if let Some(wire) = self.flight {
            say(&format!("Arrow Flight SQL on {}", wire.address()));
            tokio::spawn(wire.run(Arc::clone(service), stop.clone()));
        }
        #[cfg(not(any(feature = "flight", feature = "postgres")))]
        let _none = (self, service, stop, say);
    }
}
