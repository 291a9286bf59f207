//! Kubernetes
