//! How much is kept.

use crate::error::StoreError;
use crate::record::Table;
use crate::store::Store;
use crate::{hot, segment};

/// What a store holds, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Facts in segments.
    pub facts: u64,
    /// Versions of objects in segments.
    pub versions: u64,
    /// Rows in the hot tier.
    pub hot: u64,
    /// Live segments.
    pub segments: u64,
    /// Days that have segments.
    pub days: u64,
    /// Bytes of live segments.
    pub segment_bytes: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Pods and workloads known.
    pub entities: u64,
    /// Incidents kept.
    pub incidents: u64,
    /// The earliest time of any row.
    pub from: Option<i64>,
    /// The latest time of any row.
    pub to: Option<i64>,
}

impl Store {
    /// How much is kept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn status(&self) -> Result<Status, StoreError> {
        let mut status = Status::default();
        let failed = || StoreError::database(&self.db_path);
        let mut days = std::collections::BTreeSet::new();
        for table in [Table::Events, Table::Objects] {
            for one in segment::live(&self.db, table, None).map_err(failed())? {
                match table {
                    Table::Events => status.facts += one.rows,
                    Table::Objects => status.versions += one.rows,
                }
                status.segments += 1;
                status.segment_bytes += one.bytes;
                days.insert(one.day);
                if one.time_from != i64::MIN && table == Table::Events {
                    status.from = Some(
                        status
                            .from
                            .map_or(one.time_from, |at| at.min(one.time_from)),
                    );
                }
                if one.time_to != i64::MIN {
                    status.to = status.to.max(Some(one.time_to));
                }
            }
            for (_, rows) in hot::days(&self.db, table).map_err(failed())? {
                status.hot += rows;
            }
        }
        let (first, last): (Option<i64>, Option<i64>) = self
            .db
            .query_row(
                "SELECT min(time), max(time) FROM hot WHERE time > ?1",
                [i64::MIN],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(failed())?;
        status.from = status.from.into_iter().chain(first).min();
        status.to = status.to.max(last);
        status.days = days.len() as u64;
        let count = |sql: &str| {
            self.db
                .query_row(sql, [], |row| row.get(0))
                .map_err(failed())
        };
        status.entities = count("SELECT count(*) FROM entities")?;
        // That nothing happened is kept as well, so that nobody looks again.
        status.incidents = count(
            r#"SELECT count(*) FROM incidents WHERE answer NOT LIKE '{"incident":{"cause":"none.%'"#,
        )?;
        status.database_bytes = self.db_path.metadata().map_or(0, |meta| meta.len());
        Ok(status)
    }
}
