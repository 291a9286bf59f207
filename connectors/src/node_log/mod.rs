//! What happened to a machine itself: its kernel's, its system's and its
//! maintainers' records, as facts `node.log`.
//!
//! A line's host is `entities.host` and `entities.node`; a log that names none
//! (dmesg) leaves both empty. Nearly all lines of a healthy machine mean
//! nothing: they are counted as irrelevant and not kept ([`may_be_evidence`]).
//!
//! Where a line does not state its time in full, the attribute `time_inferred`
//! says how it was found:
//!
//! | value | the event's time |
//! |---|---|
//! | `zone` | the line names no zone, UTC is assumed |
//! | `year` | the line names no year, that of its log is taken |
//! | `anchor` | year or zone come from seconds since 1970 in the same log |
//! | `boot` | seconds since the machine's start, and the same log says when that was |
//! | `none` | nothing tells: [`crate::time::Stamp::OPEN`]; `uptime_s` or `time_without_year` hold what there is |

mod apt;
mod boot;
mod bursts;
mod calendar;
mod container;
mod dcgm;
mod emit;
mod entry;
mod export;
mod filter;
mod journal;
mod journal_layout;
mod json;
mod layout;
mod line;
mod memory_group;
mod nvidia;
mod nvidia_smi;
mod place;
mod reader;
mod sel;
mod service;
mod sniff;
mod stored;
mod subject;
mod syslog;
mod syslog_json;
mod terraform;
mod tools;
mod unit_cat;
mod unit_list;
mod unit_log;
mod unit_status;
mod unit_survey;
pub mod xid;
mod zone;

#[cfg(test)]
mod healthy;
#[cfg(test)]
pub(crate) mod tests;

pub use calendar::is_calendar_entry;
pub use filter::may_be_evidence;
pub use syslog::{SyslogFacts, decode_syslog};

pub(crate) use entry::emit;
pub(crate) use filter::{asked, look_for};
pub(crate) use json::{decode, recognise};
pub(crate) use stored::{Machines, StoredHostLine};

use crate::contract::TextFormat;
use reader::HostLog;

/// Whether a file's form, in the words of
/// a `FileSummary`, is that of a log which holds what
/// a machine's kernel says.
#[must_use]
pub fn holds_kernel(form: &str) -> bool {
    let last = form.rsplit(", ").next().unwrap_or(form);
    [JOURNAL_JSON, JOURNAL_EXPORT, SYSLOG_JSON, HOST_LOG].contains(&last)
}

const SERVICE_JSON: &str = "journal of a service in JSON";

const JOURNAL_JSON: &str = "journal in JSON";
const SYSLOG_JSON: &str = "syslog in JSON";
const JOURNAL_EXPORT: &str = "journal export";
const HOST_LOG: &str = "log of a host";

/// Formats of text, the more particular first.
pub(crate) const FORMATS: &[TextFormat] = &[
    TextFormat {
        words: SERVICE_JSON,
        of_pods: false,
        first: true,
        is: unit_log::is_json,
        reader: |source, options| Box::new(unit_log::UnitLog::json(source, options)),
    },
    TextFormat {
        words: SERVICE_JSON,
        of_pods: false,
        first: true,
        is: journal_layout::is_of_service,
        reader: journal_layout::reader,
    },
    TextFormat {
        words: JOURNAL_JSON,
        of_pods: false,
        first: true,
        is: journal_layout::is_journal,
        reader: journal_layout::reader,
    },
    TextFormat {
        words: SYSLOG_JSON,
        of_pods: false,
        first: true,
        is: syslog_json::is,
        reader: syslog_json::reader,
    },
    TextFormat {
        words: JOURNAL_JSON,
        of_pods: false,
        first: true,
        is: sniff::is_journal_json,
        reader: |source, _| Box::new(HostLog::new(source, |text| journal::json(text).map(Some))),
    },
    TextFormat {
        words: JOURNAL_EXPORT,
        of_pods: false,
        first: true,
        is: sniff::is_journal_export,
        reader: |source, options| Box::new(export::Export::new(source, options.max_record_bytes)),
    },
    TextFormat {
        words: "log of kured",
        of_pods: true,
        first: false,
        is: tools::is_kured,
        reader: |source, _| Box::new(HostLog::new(source, tools::kured)),
    },
    TextFormat {
        words: "systemctl's status",
        of_pods: false,
        first: false,
        is: unit_status::is,
        reader: |source, options| Box::new(unit_status::UnitStatus::new(source, options)),
    },
    TextFormat {
        words: "systemctl's list of units",
        of_pods: false,
        first: false,
        is: unit_list::is,
        reader: |source, _| Box::new(unit_list::UnitList::new(source)),
    },
    TextFormat {
        words: "journal of a service",
        of_pods: false,
        first: false,
        is: unit_log::is_text,
        reader: |source, options| Box::new(unit_log::UnitLog::text(source, options)),
    },
    TextFormat {
        words: HOST_LOG,
        of_pods: false,
        first: false,
        is: sniff::is_host_log,
        reader: |source, _| Box::new(HostLog::new(source, |text| Ok(line::parse(text)))),
    },
    TextFormat {
        words: "journal of a service, texts alone",
        of_pods: false,
        first: false,
        is: unit_cat::is,
        reader: |source, options| Box::new(unit_cat::UnitCat::new(source, options)),
    },
    TextFormat {
        words: "log of unattended-upgrades",
        of_pods: false,
        first: false,
        is: tools::is_upgrades,
        reader: |source, _| Box::new(HostLog::new(source, tools::upgrades)),
    },
    TextFormat {
        words: "log of Slurm's daemons",
        of_pods: false,
        first: false,
        is: tools::is_slurm,
        reader: |source, _| Box::new(HostLog::new(source, tools::slurm)),
    },
    TextFormat {
        words: "log of NVIDIA's fabric manager",
        of_pods: true,
        first: false,
        is: tools::is_fabric_manager,
        reader: |source, _| Box::new(HostLog::new(source, tools::fabric_manager)),
    },
    TextFormat {
        words: "log of Storage Scale (GPFS)",
        of_pods: true,
        first: false,
        is: tools::is_storage_scale,
        reader: |source, _| Box::new(HostLog::new(source, tools::storage_scale)),
    },
    TextFormat {
        words: "log of Chef",
        of_pods: false,
        first: false,
        is: tools::is_chef,
        reader: |source, _| Box::new(HostLog::new(source, tools::chef)),
    },
    TextFormat {
        words: "Terraform's log",
        of_pods: false,
        first: false,
        is: terraform::is,
        reader: |source, _| Box::new(terraform::PlanOutput::new(source)),
    },
    TextFormat {
        words: "history of apt",
        of_pods: false,
        first: false,
        is: apt::is,
        reader: |source, _| Box::new(apt::History::new(source)),
    },
    TextFormat {
        words: "event log of a machine's controller",
        of_pods: false,
        first: false,
        is: sel::is,
        reader: |source, _| Box::new(sel::EventLogRows::new(source)),
    },
    TextFormat {
        words: "nvidia-smi's report",
        of_pods: false,
        first: false,
        is: nvidia_smi::is,
        reader: |source, _| Box::new(nvidia_smi::Report::new(source)),
    },
    TextFormat {
        words: "dcgmi's report",
        of_pods: false,
        first: false,
        is: dcgm::is_table,
        reader: |source, _| Box::new(dcgm::Table::new(source)),
    },
    TextFormat {
        words: "maintenance calendar",
        of_pods: false,
        first: false,
        is: calendar::is_csv,
        reader: |source, _| Box::new(calendar::Csv::new(source)),
    },
];
