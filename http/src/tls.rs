//! What encrypts, and whose certificates count. Without the feature `tls` nothing does: what is encrypted is then refused.

use reqwest::ClientBuilder;
#[cfg(feature = "tls")]
use reqwest::{Certificate, Identity};

use super::error::HttpError;
use super::options::HttpOptions;

/// Chooses what encrypts connections of this process, unless that is chosen. For
/// clients that take the process's choice; asking twice does no harm.
pub fn choose_encryption() {
    #[cfg(feature = "tls")]
    let _chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// Connections that trust and are trusted as the options say.
#[cfg(feature = "tls")]
pub(super) fn encrypted(
    mut builder: ClientBuilder,
    options: &HttpOptions,
) -> Result<ClientBuilder, HttpError> {
    if let Some(path) = &options.ca_file {
        let pem = file("CA certificate", path)?;
        let found = Certificate::from_pem_bundle(&pem).map_err(|error| {
            HttpError::BadRequest(format!("the CA certificate {}: {error}", path.display()))
        })?;
        for certificate in found {
            builder = builder.add_root_certificate(certificate);
        }
    }
    if let Some((certificate, key)) = &options.client_certificate {
        let mut pem = file("client certificate", certificate)?;
        if let Some(key) = key {
            pem.push(b'\n');
            pem.extend(file("key of the client certificate", key)?);
        }
        builder = builder.identity(Identity::from_pem(&pem).map_err(|_| {
            HttpError::BadRequest(format!(
                "{} is not a client certificate with its key",
                certificate.display()
            ))
        })?);
    }
    if options.accept_any_certificate {
        builder = builder.tls_danger_accept_invalid_certs(true);
    }
    Ok(builder)
}

/// The same where nothing encrypts.
#[cfg(not(feature = "tls"))]
pub(super) fn encrypted(
    builder: ClientBuilder,
    options: &HttpOptions,
) -> Result<ClientBuilder, HttpError> {
    let is_asked = options.ca_file.is_some()
        || options.client_certificate.is_some()
        || options.accept_any_certificate;
    if is_asked {
        let why = "this program was built without encryption";
        return Err(HttpError::BadRequest(why.to_owned()));
    }
    Ok(builder)
}

#[cfg(feature = "tls")]
fn file(what: &str, path: &std::path::Path) -> Result<Vec<u8>, HttpError> {
    std::fs::read(path).map_err(|error| {
        HttpError::BadRequest(format!(
            "the {what} {} cannot be read: {error}",
            path.display()
        ))
    })
}
