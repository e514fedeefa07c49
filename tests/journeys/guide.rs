//! The packs made by following the guide, used in the window: found, asked and, for a change,
//! approved.

use std::path::Path;

use kit::{guide::Guide, webdriver::wait};

use crate::world::Journey;

#[test]
fn packs_of_the_guide_answer_and_wait_for_an_approval() {
    let mut journey = Journey::prepare("guide", &[]);
    journey.settings("");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = Guide::read(&repository.join("tools/README.md"));
    // The guide uses the default data folder.
    let usual = journey.desktop.folder().join("home/.local/share");
    std::fs::create_dir_all(&usual).expect("a folder");
    std::os::unix::fs::symlink(journey.desktop.data_dir(), usual.join("countersign"))
        .expect("a link");
    let mut shell = journey.desktop.command("sh");
    let bin = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().expect("a folder");
    shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    guide.follow(shell, repository);
    let server = repository.join("tools/web-api-example/demo_server.py");
    journey.desktop.start_child(
        "python3",
        &[server.to_str().expect("a plain path"), "--port", &guide.port.to_string()],
    );
    journey.open();

    let answer = journey.ask("Find a meeting room for 5 people");
    assert!(answer.contains("Kiruna (8 seats)"), "{answer}");
    journey.chat(|page| {
        page.click("Find a room");
        page.says("room.find");
        wait("the argument by name", || {
            let shown = "return [...document.querySelectorAll('dt')].some((name) => name.innerText.trim() === 'Seats' && \
                         name.nextElementSibling.innerText.trim() === '5');";
            (page.script(shown) == true).then_some(())
        });
    });
    journey.picture("guide-answer.png");
    let answer = journey.ask("Greet Ada");
    assert!(answer.contains("Hello, Ada!"), "{answer}");

    journey.chat(|page| page.send("Book Kiruna"));
    let action = wait("the pending action", || journey.pending().into_iter().next());
    assert_eq!(action["tool"], "room.book");
    journey.approval(|page| {
        page.says("room.book");
        page.says("Kiruna");
        wait("Approve to be armed", || {
            page.button("Approve").enabled().ok().filter(|enabled| *enabled)
        });
    });
    journey.picture("guide-approval.png");
    assert!(journey.results("room.book").is_empty(), "nothing is sent before the signature");
    journey.approval(|page| page.click("Approve"));
    journey.chat(|page| {
        page.says("Kiruna is booked.");
        page.idle();
    });
    assert_eq!(journey.results("room.book").len(), 1);
    journey.chat(|page| {
        page.go("Tools");
        for title in ["Hello", "Rooms"] {
            page.says(title);
        }
    });
    journey.quit();
    journey.assert_log_verifies();
}
