//! What encrypts.

/// Chooses what encrypts connections of this process, unless that is chosen. For
/// clients that take the process's choice; asking twice does no harm.
pub fn choose_encryption() {
    let _chosen = rustls::crypto::aws_lc_rs::default_provider().install_default();
}
