//! One module per table, with the table's statements and the conversion of rows to contract types.

pub(crate) mod approvals;
pub(crate) mod books;
pub(crate) mod conversations;
pub(crate) mod destinations;
pub(crate) mod grants;
pub(crate) mod item_rows;
pub(crate) mod items;
pub(crate) mod memories;
pub(crate) mod memory_sources;
pub(crate) mod messages;
pub(crate) mod notes;
pub(crate) mod recordings;
pub(crate) mod session_images;
pub(crate) mod session_values;
pub(crate) mod sessions;
mod summary_items;
mod turn_tree;
pub(crate) mod turns;
pub(crate) mod versions;
