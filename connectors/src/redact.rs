//! Secrets never reach a table, an answer or a log.
