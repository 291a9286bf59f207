//! Logs
