//! The turns of a session as a tree, and which of them a change shows. Pure: `versions` reads the
//! rows and writes the differences.

use std::collections::HashMap;

use contract::TurnId;
use engine::ports::{VersionChange, VersionOutcome, VersionRefusal};

/// The columns of a turn that changes of the shown messages write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) chosen: bool,
    pub(super) deleted: bool,
    pub(super) hidden: bool,
}

impl Marks {
    /// The marks of a new turn.
    pub(super) const NEW: Self = Self { chosen: true, deleted: false, hidden: false };
}

/// A turn with its place in the tree.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: String,
    parent: Option<usize>,
    pub(super) stored: Marks,
    /// The marks after the change.
    pub(super) marks: Marks,
}

impl Node {
    /// Whether the change shows or hides the turn.
    pub(super) fn is_turned(&self) -> bool {
        self.stored.hidden != self.marks.hidden
    }
}

/// The rows that the deletion of a turn deletes and changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Removal {
    /// The turns whose rows are deleted.
    pub(super) turns: Vec<String>,
    /// The deleted turn whose followers stay.
    pub(super) line: String,
    /// The turn that these followers follow from now on.
    pub(super) parent: Option<String>,
    /// The last turn of the shown path.
    pub(super) tail: Option<String>,
}

/// All turns of a session.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The turns in the order in which they began.
    nodes: Vec<Node>,
    /// The turns that follow a turn, oldest first. `None` stands for the beginning of the session.
    followers: HashMap<Option<usize>, Vec<usize>>,
}

impl Tree {
    /// Builds the tree from rows in the order in which the turns began: the id, the parent's id and
    /// the marks.
    pub(super) fn of(rows: Vec<(String, Option<String>, Marks)>) -> Self {
        let places: HashMap<String, usize> =
            rows.iter().enumerate().map(|(at, (id, ..))| (id.clone(), at)).collect();
        let mut tree = Self::default();
        for (id, parent, marks) in rows {
            let parent = parent.and_then(|parent| places.get(&parent).copied());
            tree.add(id, parent, marks);
        }
        tree
    }

    fn add(&mut self, id: String, parent: Option<usize>, marks: Marks) {
        self.followers.entry(parent).or_default().push(self.nodes.len());
        self.nodes.push(Node { id, parent, stored: marks, marks });
    }

    /// Makes a change in memory. A refused change must not be written.
    pub(super) fn change(
        &mut self,
        change: &VersionChange,
    ) -> Result<VersionOutcome, VersionRefusal> {
        let at = match change {
            VersionChange::Replace { turn, .. } | VersionChange::Delete(turn) => {
                self.find_shown(turn)?
            }
            VersionChange::Show(turn) => self.find(turn).ok_or(VersionRefusal::Unknown)?,
            VersionChange::Restore(turn) => self
                .find(turn)
                .filter(|at| self.nodes[*at].marks.deleted)
                .ok_or(VersionRefusal::Unknown)?,
        };
        let other_versions = self.versions(at).len().saturating_sub(1);
        match change {
            VersionChange::Replace { by, .. } => {
                let parent = self.nodes[at].parent;
                self.for_versions(at, |_, marks| marks.chosen = false);
                self.add(by.0.clone(), parent, Marks::NEW);
            }
            VersionChange::Show(_) => self.choose_path_to(at)?,
            VersionChange::Delete(_) => self.for_versions(at, |_, marks| marks.deleted = true),
            VersionChange::Restore(_) => self.for_versions(at, |_, marks| marks.deleted = false),
        }
        self.settle();
        Ok(VersionOutcome {
            is_changed: self.changed().next().is_some(),
            other_versions: u32::try_from(other_versions).unwrap_or(u32::MAX),
        })
    }

    /// Takes a turn out of the tree if it has other versions and no turn follows it. The newest of
    /// the others is shown instead. Returns whether this was done.
    pub(super) fn withdraw(&mut self, turn: &TurnId) -> bool {
        let Some(at) = self.find(turn) else { return false };
        let parent = self.nodes[at].parent;
        let others: Vec<usize> =
            self.versions(at).iter().copied().filter(|other| *other != at).collect();
        let is_followed = self.followers.contains_key(&Some(at));
        let Some(newest) = others.last().copied().filter(|_| !is_followed) else { return false };
        if self.nodes[at].marks.chosen {
            self.nodes[newest].marks.chosen = true;
        }
        self.followers.insert(parent, others);
        self.settle();
        // The row is deleted, so its marks are not written.
        self.nodes[at].marks = self.nodes[at].stored;
        true
    }

    /// Returns the rows that are deleted with a deleted turn. Returns none if the turn is not
    /// deleted.
    pub(super) fn removal(&self, turn: &TurnId) -> Option<Removal> {
        let at = self.find(turn).filter(|at| self.nodes[*at].marks.deleted)?;
        let versions = self.versions(at);
        let line = *versions.iter().rev().find(|at| self.nodes[**at].marks.chosen).unwrap_or(&at);
        let mut gone = vec![line];
        for version in versions.iter().filter(|version| **version != line) {
            self.collect(*version, &mut gone);
        }
        let id = |at: &usize| self.nodes[*at].id.clone();
        Some(Removal {
            turns: gone.iter().map(id).collect(),
            line: id(&line),
            parent: self.nodes[line].parent.as_ref().map(id),
            tail: self.path().iter().rev().find(|at| **at != line).map(id),
        })
    }

    /// Returns the turns before a turn on its path that are not deleted.
    pub(super) fn before(&self, turn: &TurnId) -> Option<Vec<&str>> {
        let mut before = Vec::new();
        let mut next = self.nodes[self.find(turn)?].parent;
        for _ in 0..self.nodes.len() {
            let Some(at) = next else { break };
            let node = &self.nodes[at];
            if !node.marks.deleted {
                before.push(node.id.as_str());
            }
            next = node.parent;
        }
        Some(before)
    }

    /// Returns the turns whose marks the change changes.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.stored != node.marks)
    }

    /// Returns the turns that the change hides.
    pub(super) fn hides(&self) -> Vec<&str> {
        let hides = self.nodes.iter().filter(|node| node.is_turned() && node.marks.hidden);
        hides.map(|node| node.id.as_str()).collect()
    }

    /// Returns the turn that a turn follows.
    pub(super) fn parent_of(&self, turn: &TurnId) -> Option<&str> {
        let parent = self.nodes[self.find(turn)?].parent?;
        Some(self.nodes[parent].id.as_str())
    }

    /// Returns the last turn of the shown path.
    pub(super) fn tail(&self) -> Option<&str> {
        self.path().last().map(|at| self.nodes[*at].id.as_str())
    }

    fn find(&self, turn: &TurnId) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == turn.as_str())
    }

    fn find_shown(&self, turn: &TurnId) -> Result<usize, VersionRefusal> {
        let at = self.find(turn).ok_or(VersionRefusal::Unknown)?;
        match self.nodes[at].marks {
            Marks { deleted: true, .. } => Err(VersionRefusal::Deleted),
            Marks { hidden: true, .. } => Err(VersionRefusal::NotShown),
            Marks { .. } => Ok(at),
        }
    }

    /// Returns the versions of a turn, including the turn itself, oldest first.
    fn versions(&self, at: usize) -> &[usize] {
        self.followers.get(&self.nodes[at].parent).map_or(&[], Vec::as_slice)
    }

    fn for_versions(&mut self, at: usize, mut change: impl FnMut(usize, &mut Marks)) {
        for version in self.versions(at).to_vec() {
            change(version, &mut self.nodes[version].marks);
        }
    }

    /// Chooses a turn and all turns before it on its path.
    fn choose_path_to(&mut self, at: usize) -> Result<(), VersionRefusal> {
        if self.nodes[at].marks.deleted {
            return Err(VersionRefusal::Deleted);
        }
        let mut next = Some(at);
        for _ in 0..=self.nodes.len() {
            let Some(at) = next else { break };
            let Marks { deleted, chosen, .. } = self.nodes[at].marks;
            // Another version of a deleted turn is deleted as well, with all that followed it.
            if deleted && !chosen {
                return Err(VersionRefusal::Deleted);
            }
            self.for_versions(at, |version, marks| marks.chosen = version == at);
            next = self.nodes[at].parent;
        }
        Ok(())
    }

    /// Returns the path of chosen turns, from the first turn.
    fn path(&self) -> Vec<usize> {
        let mut path = Vec::new();
        let mut last = None;
        while let Some(next) = self.chosen_follower(last).filter(|_| path.len() < self.nodes.len())
        {
            path.push(next);
            last = Some(next);
        }
        path
    }

    fn chosen_follower(&self, of: Option<usize>) -> Option<usize> {
        let followers = self.followers.get(&of)?;
        let chosen = followers.iter().rev().find(|at| self.nodes[**at].marks.chosen);
        chosen.or(followers.last()).copied()
    }

    /// Sets which turns are hidden: all but those on the path that are not deleted.
    fn settle(&mut self) {
        let path = self.path();
        self.nodes.iter_mut().for_each(|node| node.marks.hidden = true);
        for at in path {
            let marks = &mut self.nodes[at].marks;
            marks.hidden = marks.deleted;
        }
    }

    /// Adds a turn and all turns that follow it.
    fn collect(&self, at: usize, all: &mut Vec<usize>) {
        let mut rest = vec![at];
        while let Some(at) = rest.pop().filter(|_| all.len() < self.nodes.len()) {
            all.push(at);
            rest.extend(self.followers.get(&Some(at)).into_iter().flatten());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a tree from pairs of a turn and its parent. The newest version of each is chosen.
    fn tree(turns: &[(&str, Option<&str>)]) -> Tree {
        let rows = turns.iter().map(|(id, parent)| {
            let newest = turns.iter().rev().find(|(_, other)| other == parent);
            let chosen = newest.is_some_and(|(newest, _)| newest == id);
            let marks = Marks { chosen, deleted: false, hidden: false };
            ((*id).to_owned(), parent.map(str::to_owned), marks)
        });
        let mut tree = Tree::of(rows.collect());
        tree.settle();
        stored(tree)
    }

    /// Returns the tree as it is after its changes were written.
    fn stored(mut tree: Tree) -> Tree {
        tree.nodes.iter_mut().for_each(|node| node.stored = node.marks);
        tree
    }

    fn shown(tree: &Tree) -> String {
        let shown = tree.nodes.iter().filter(|node| !node.marks.hidden);
        shown.map(|node| node.id.as_str()).collect()
    }

    fn changed(tree: Tree, change: VersionChange) -> Tree {
        let mut tree = tree;
        tree.change(&change).expect("the change is possible");
        stored(tree)
    }

    fn replace(turn: &str, by: &str) -> VersionChange {
        VersionChange::Replace { turn: turn.into(), by: by.into() }
    }

    /// A line of three turns, a, b and c.
    fn line() -> Tree {
        tree(&[("a", None), ("b", Some("a")), ("c", Some("b"))])
    }

    #[test]
    fn a_replaced_turn_is_hidden_with_all_turns_after_it_and_returns_with_them() {
        let mut tree = line();
        let outcome = tree.change(&replace("b", "x")).expect("replaced");
        assert_eq!((shown(&tree).as_str(), tree.tail()), ("ax", Some("x")));
        assert_eq!((tree.hides(), outcome.is_changed), (vec!["b", "c"], true));
        assert_eq!(tree.parent_of(&"x".into()), Some("a"));
        let tree = changed(stored(tree), VersionChange::Show("b".into()));
        assert_eq!((shown(&tree).as_str(), tree.tail()), ("abc", Some("c")));
        let tree = changed(tree, VersionChange::Show("x".into()));
        assert_eq!(shown(&tree), "ax");
        // A turn deep in another version is shown with all turns before it.
        assert_eq!(shown(&changed(tree, VersionChange::Show("c".into()))), "abc");
    }

    #[test]
    fn the_first_turn_has_versions_too() {
        let tree = changed(line(), replace("a", "x"));
        assert_eq!(shown(&tree), "x");
        assert_eq!(tree.parent_of(&"x".into()), None);
        assert_eq!(shown(&changed(tree, VersionChange::Show("a".into()))), "abc");
    }

    #[test]
    fn a_deleted_turn_is_hidden_and_the_turns_after_it_stay() {
        let tree = changed(line(), VersionChange::Delete("b".into()));
        assert_eq!((shown(&tree).as_str(), tree.tail()), ("ac", Some("c")));
        let removal = tree.removal(&"b".into()).expect("deleted");
        assert_eq!((removal.turns, removal.line.as_str()), (vec!["b".to_owned()], "b"));
        assert_eq!((removal.parent.as_deref(), removal.tail.as_deref()), (Some("a"), Some("c")));
        assert_eq!(shown(&changed(tree, VersionChange::Restore("b".into()))), "abc");
        let last = changed(line(), VersionChange::Delete("c".into()));
        assert_eq!(last.tail(), Some("c"), "the next turn follows it until its row is deleted");
        assert_eq!(last.removal(&"c".into()).expect("deleted").tail.as_deref(), Some("b"));
    }

    #[test]
    fn a_turn_is_deleted_in_all_versions_with_the_turns_after_the_others() {
        let mut tree = changed(line(), replace("b", "x"));
        let outcome = tree.change(&VersionChange::Delete("x".into())).expect("deleted");
        assert_eq!((shown(&tree).as_str(), outcome.other_versions), ("a", 1));
        let tree = stored(tree);
        let mut removed = tree.removal(&"x".into()).expect("deleted").turns;
        removed.sort();
        assert_eq!(removed, ["b", "c", "x"]);
        for hidden in ["b", "c"] {
            let mut tree = changed(line(), replace("b", "x"));
            tree.change(&VersionChange::Delete("x".into())).expect("deleted");
            let refused = stored(tree).change(&VersionChange::Show(hidden.into()));
            assert_eq!(refused, Err(VersionRefusal::Deleted), "{hidden}");
        }
        assert_eq!(shown(&changed(tree, VersionChange::Restore("x".into()))), "ax");
    }

    #[test]
    fn a_deletion_survives_other_changes_before_it_is_undone() {
        let tree = changed(line(), VersionChange::Delete("b".into()));
        let tree = changed(tree, replace("c", "y"));
        assert_eq!(shown(&tree), "ay");
        let mut tree = changed(tree, replace("a", "z"));
        let outcome = tree.change(&VersionChange::Restore("b".into())).expect("restored");
        assert!(outcome.is_changed, "the undo is stored, although it shows no turn now");
        let tree = stored(tree);
        assert_eq!(shown(&tree), "z", "the restored turn belongs to another version");
        assert_eq!(shown(&changed(tree, VersionChange::Show("a".into()))), "aby");
    }

    #[test]
    fn unknown_hidden_and_deleted_turns_are_refused() {
        let mut tree = changed(line(), replace("b", "x"));
        assert_eq!(tree.change(&replace("none", "y")), Err(VersionRefusal::Unknown));
        assert_eq!(tree.change(&replace("b", "y")), Err(VersionRefusal::NotShown));
        let hidden = tree.change(&VersionChange::Delete("c".into()));
        assert_eq!(hidden, Err(VersionRefusal::NotShown));
        let restored = tree.change(&VersionChange::Restore("a".into()));
        assert_eq!(restored, Err(VersionRefusal::Unknown), "it is not deleted");
        let mut tree = changed(line(), VersionChange::Delete("b".into()));
        assert_eq!(tree.change(&replace("b", "y")), Err(VersionRefusal::Deleted));
        assert_eq!(tree.change(&VersionChange::Show("b".into())), Err(VersionRefusal::Deleted));
        let mut same = line();
        let outcome = same.change(&VersionChange::Show("c".into())).expect("shown already");
        assert!(!outcome.is_changed);
    }

    #[test]
    fn a_withdrawn_version_shows_the_version_before_it() {
        let mut tree = changed(line(), replace("b", "x"));
        assert!(tree.withdraw(&"x".into()));
        assert_eq!((tree.tail(), tree.changed().count()), (Some("c"), 2));
        assert!(!line().withdraw(&"c".into()), "it is the only version");
        assert!(!line().withdraw(&"b".into()), "a turn follows it");
    }

    #[test]
    fn the_turns_before_a_turn_are_those_of_its_own_path() {
        let tree = changed(line(), replace("b", "x"));
        assert_eq!(tree.before(&"c".into()), Some(vec!["b", "a"]));
        assert_eq!(tree.before(&"x".into()), Some(vec!["a"]));
        let tree = changed(tree, VersionChange::Delete("a".into()));
        assert_eq!(tree.before(&"c".into()), Some(vec!["b"]));
        assert_eq!(tree.before(&"none".into()), None);
    }
}
