//! Which lanes there are: what matters has one of its own, the rest is folded.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::answer::Victim;
use whathappened_core::timeline::Weight;

use super::super::super::wording;
use super::super::cells;
use super::super::page::Page;
use super::group::Group;
use super::sources;

/// Things of a folded lane that are shown one by one where it is opened.
const OPENED: usize = 200;

/// One line of the picture.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) group: Group,
    pub(super) label: String,
    /// What it is in this story.
    pub(super) note: String,
    /// How many things it stands for, where it is folded.
    pub(super) folded: usize,
    /// Those of them that it shows one by one where it is opened: labels and notes.
    pub(super) members: Vec<(String, String)>,
}

/// The lanes and who is on which.
pub(super) struct Lanes {
    pub(super) all: Vec<Lane>,
    own: HashMap<(Group, String), usize>,
    /// Places of folded ones within the lane that they share.
    folded: HashMap<(Group, String), usize>,
    rest: HashMap<Group, usize>,
}

/// What is known of a name before lanes are given out.
#[derive(Clone, Default)]
struct LaneName {
    /// What it is in this story; the lower, the more it matters.
    importance: usize,
    rank: Option<i32>,
    first: usize,
    note: &'static str,
}

impl Lanes {
    pub(super) fn of(page: Page<'_>) -> Self {
        let mut groups: BTreeMap<Group, HashMap<String, LaneName>> = BTreeMap::new();
        names(page, &mut groups);
        let mut lanes = Self {
            all: Vec::new(),
            own: HashMap::new(),
            folded: HashMap::new(),
            rest: HashMap::new(),
        };
        for (group, names) in groups {
            lanes.add(group, names, page);
        }
        for source in sources::of(&page.answer.coverage) {
            let Some(row) = source.first() else { continue };
            lanes.all.push(Lane {
                group: Group::Coverage,
                label: cells::cut(&wording::source(&row.source, &row.resource), 60),
                note: cells::cut(&source.note(), 40),
                folded: 0,
                members: Vec::new(),
            });
        }
        lanes
    }

    fn add(&mut self, group: Group, names: HashMap<String, LaneName>, page: Page<'_>) {
        let mut names: Vec<(String, LaneName)> = names.into_iter().collect();
        names.sort_by(|(a, x), (b, y)| {
            let order = |known: &LaneName| {
                (
                    known.importance,
                    known.rank.unwrap_or(i32::MAX),
                    known.first,
                )
            };
            order(x).cmp(&order(y)).then_with(|| a.cmp(b))
        });
        let limit = group.limit();
        // One that would be folded alone has room as well.
        let keep = if names.len() <= limit + 1 {
            names.len()
        } else {
            limit
        };
        let folded = names.len() - keep;
        let rest = names.split_off(keep);
        let followed = rest.iter().filter(|(_, known)| known.note == "followed");
        let followed = followed.count();
        for (entity, known) in names {
            self.own.insert((group, entity.clone()), self.all.len());
            let (label, note) = words(&entity, &known, page);
            self.all.push(Lane {
                group,
                label,
                note,
                folded: 0,
                members: Vec::new(),
            });
        }
        if folded > 0 {
            self.rest.insert(group, self.all.len());
            let shown = rest.into_iter().take(OPENED.min(page.room.entries / 4));
            let shown = shown.enumerate().map(|(place, (entity, known))| {
                let words = words(&entity, &known, page);
                self.folded.insert((group, entity), place);
                words
            });
            let members = shown.collect();
            self.all.push(Lane {
                group,
                label: wording::count(folded, &format!("more {}", group.noun())),
                note: match followed {
                    0 => "folded".to_owned(),
                    some => format!("folded · {} followed", wording::grouped(some as u64)),
                },
                folded,
                members,
            });
        }
    }

    /// Its own lane, else the one that the rest of its kind shares.
    pub(super) fn find(&self, group: Group, entity: &str) -> Option<usize> {
        let own = self.own.get(&(group, entity.to_owned()));
        own.or_else(|| self.rest.get(&group)).copied()
    }

    /// Its place among those that share a lane, where that shows it when it is opened.
    pub(super) fn member(&self, group: Group, entity: &str) -> Option<usize> {
        self.folded.get(&(group, entity.to_owned())).copied()
    }

    /// The lane of a name whatever kind it is of.
    pub(super) fn of_name(&self, entity: &str) -> Option<usize> {
        let groups = [
            Group::Pods,
            Group::Machines,
            Group::Experiment,
            Group::Cloud,
            Group::Logs,
            Group::Other,
        ];
        let found = groups
            .into_iter()
            .find_map(|group| self.own.get(&(group, entity.to_owned())));
        found.copied()
    }

    pub(super) fn rest(&self, group: Group) -> Option<usize> {
        self.rest.get(&group).copied()
    }

    /// The first lane of a kind.
    pub(super) fn first(&self, group: Group) -> Option<usize> {
        self.all.iter().position(|lane| lane.group == group)
    }

    pub(super) fn is_folded(&self, lane: usize) -> bool {
        self.all.get(lane).is_some_and(|lane| lane.folded > 0)
    }
}

/// A lane's label and its note.
fn words(entity: &str, known: &LaneName, page: Page<'_>) -> (String, String) {
    let rank = known.rank.map(|rank| format!("rank {rank}"));
    let parts = [rank.as_deref().unwrap_or(""), known.note];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let label = if entity.is_empty() {
        "not of any one object".to_owned()
    } else {
        cells::cut(entity, 80.min(page.room.text))
    };
    (label, parts.join(" · "))
}

/// Every name, and what it is in this story.
fn names(page: Page<'_>, groups: &mut BTreeMap<Group, HashMap<String, LaneName>>) {
    let mut note =
        |group: Group, entity: &str, importance: usize, rank: Option<i32>, what: &'static str| {
            let names = groups.entry(group).or_default();
            let first = names.len();
            // A million rows are about some thousand names.
            let Some(known) = names.get_mut(entity) else {
                let fresh = LaneName {
                    importance,
                    rank,
                    first,
                    note: what,
                };
                names.insert(entity.to_owned(), fresh);
                return;
            };
            if importance < known.importance {
                known.importance = importance;
            }
            if known.note.is_empty() {
                known.note = what;
            }
            known.rank = known.rank.or(rank);
        };
    if let Some(run) = super::super::super::facts::subject_run(page.answer, page.main) {
        note(Group::Experiment, &run.name, 0, None, "");
    }
    let mut on: HashSet<&str> = HashSet::new();
    if let Some(main) = page.main {
        let victims = |list: &[Victim],
                       importance: usize,
                       what: &'static str,
                       note: &mut dyn FnMut(&Victim, usize, &'static str)| {
            for victim in list {
                note(victim, importance, what);
            }
        };
        let mut add = |victim: &Victim, importance: usize, what: &'static str| {
            note(Group::Pods, &victim.pod, importance, victim.rank, what);
        };
        let first = super::super::super::facts::came_first(main);
        let first = match first {
            "Died first" => "died first",
            "Stuck first" => "stuck first",
            _ => "hit first",
        };
        victims(main.first_victim.as_slice(), 0, first, &mut add);
        victims(&main.first_victims, 0, first, &mut add);
        victims(&main.victims, 1, "hit as well", &mut add);
        victims(&main.collateral, 5, "followed", &mut add);
        for machine in &main.machines {
            let names = [&machine.node, &machine.host, &machine.instance];
            on.extend(names.into_iter().flatten().map(String::as_str));
            if let Some(name) = machine
                .node
                .as_ref()
                .or(machine.host.as_ref())
                .or(machine.instance.as_ref())
            {
                let what = if machine.at_fault {
                    "at fault"
                } else {
                    "where it happened"
                };
                note(Group::Machines, name, 0, None, what);
            }
        }
        on.extend(
            main.first_victims
                .iter()
                .filter_map(|victim| victim.node.as_deref()),
        );
    }
    // A run's pods belong to it, also those of which nothing was told but that they were there.
    for life in &page.answer.drawn.lives {
        note(Group::Pods, &life.pod, 9, life.rank, "");
    }
    for row in &page.answer.timeline {
        let importance = match row.weight {
            _ if row.in_chain => 2,
            _ if on.contains(row.entity.as_str()) => 3,
            Weight::Error => 6,
            Weight::Warning => 7,
            Weight::Info => 8,
        };
        note(Group::of(row), &row.entity, importance, None, "");
    }
}
