//! Addresses on the PCI bus.

/// A GPU's place under one name: `00000000:9B:00.0` and `0000:9b:00` are one.
#[must_use]
pub fn normal(pci: &str) -> String {
    let pci = pci.trim_end_matches('.').to_ascii_lowercase();
    let pci = pci.split('.').next().unwrap_or_default();
    match pci.split_once(':') {
        Some((domain, rest)) if rest.contains(':') => {
            let short = domain.trim_start_matches('0');
            format!("{short:0>4}:{rest}")
        }
        _ => format!("0000:{pci}"),
    }
}
