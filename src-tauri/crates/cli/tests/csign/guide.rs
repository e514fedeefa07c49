//! Follows the guide "Write a pack in ten minutes" literally in a terminal. Another test covers the
//! steps in the window.

use std::path::Path;

use kit::guide::Guide;

use crate::world::{World, packs, program};

#[test]
fn the_commands_of_the_pack_guide_work_as_written() {
    let world = World::new();
    let bin = Path::new(program()).parent().expect("a folder").display().to_string();
    let mut shell = world.bare("sh");
    shell
        .env("PATH", format!("{bin}:/usr/bin:/bin"))
        .env_remove("XDG_DATA_HOME")
        .env_remove("COUNTERSIGN_DATA_DIR");
    Guide::read(&packs().join("README.md")).follow(shell, &packs().join(".."));
}
