//! The layouts of exports that are recognised. Each is a file in `layouts/` of the pack's folder.

/// The contents of the layout files.
pub(super) const LAYOUTS: [&str; 3] = [
    include_str!("../../layouts/delivery.json"),
    include_str!("../../layouts/google-ads.json"),
    include_str!("../../layouts/meta-ads.json"),
];
