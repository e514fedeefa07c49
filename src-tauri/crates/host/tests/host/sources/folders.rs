//! Tests of files of a folder: the account in the path of each, and the rows that each replaces.

use contract::{
    Commands as _, Empty, SourceName,
    params::SourceAddParams,
    sources::{ImportDecisions, ImportMode, ImportResult},
};

use super::{CLIENT_ONE, CLIENT_TWO, World, accounts::sums_by_account, answers, named, questions};

fn by_path() -> ImportDecisions {
    let account_from_path = Some("clients/{account}/*.csv".to_owned());
    ImportDecisions { account_from_path, ..ImportDecisions::default() }
}

fn account(result: &ImportResult) -> &str {
    result.decisions.account.as_deref().unwrap_or_default()
}

fn tells(result: &ImportResult, text: &str) -> bool {
    result.report.notes.iter().any(|note| note.contains(text))
}

fn sums(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(account, sum)| ((*account).to_owned(), (*sum).to_owned())).collect()
}

/// Imports a file of the account `acme`.
async fn import_acme(world: &World) -> SourceName {
    let file = world.write("clients/acme/2026-11.csv", CLIENT_ONE);
    let first = world.import_with(&file, by_path()).await;
    assert!(first.is_stored, "{first:?}");
    first.source
}

#[tokio::test(flavor = "multi_thread")]
async fn each_file_of_a_folder_has_the_account_in_its_path_and_replaces_only_its_rows() {
    let world = World::new().await;
    world.write("clients/acme/2026-11.csv", CLIENT_ONE);
    world.write("clients/bolt/2026-11.csv", CLIENT_TWO);
    let pattern = world.folder.path().join("clients/*/*.csv");
    let stored = world.run(world.params(&pattern, by_path())).await.results.unwrap();
    assert!(stored.len() == 2 && stored.iter().all(|one| one.is_stored), "{stored:?}");
    assert!(tells(&stored[0], "Account from the path, by clients/{account}/*.csv: acme."));
    let source = stored[0].source.clone();
    let both = [("acme", "210.00"), ("bolt", "15.00")];
    assert_eq!(sums_by_account(&world, &source).await, sums(&both));
    let again = world.refresh(&source).await.results.unwrap();
    assert!(again.is_empty(), "{again:?}");
    world.write("clients/acme/2026-11.csv", &CLIENT_ONE.replace("110.00", "1110.00"));
    // The content of another account is not content that is known.
    world.write("clients/crux/2026-11.csv", CLIENT_TWO);
    let later = world.refresh(&source).await.results.unwrap();
    assert!(later.len() == 2 && later.iter().all(|one| one.is_stored), "{later:?}");
    let acme = later.iter().find(|one| account(one) == "acme").unwrap();
    assert!(tells(acme, "as for earlier files: acme."), "{acme:?}");
    let change = acme.change.as_ref().unwrap();
    assert_eq!(change.scope.values["Account"], ["acme"]);
    assert_eq!((change.new_rows, change.changed_rows, change.vanished_rows), (0, 1, 0));
    let all = [("acme", "1210.00"), ("bolt", "15.00"), ("crux", "15.00")];
    assert_eq!(sums_by_account(&world, &source).await, sums(&all));
    world.host.source_undo(named(&source)).await.unwrap();
    world.host.source_undo(named(&source)).await.unwrap();
    assert_eq!(sums_by_account(&world, &source).await, sums(&both));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_file_of_the_same_pattern_is_no_file_of_another_account() {
    let world = World::new().await;
    let file = world.write("clients/bolt/2026-11.csv", CLIENT_TWO);
    let folder = world.folder.path().join("clients/acme");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&file, folder.join("2026-11.csv")).unwrap();
    let pattern = world.folder.path().join("clients/*/*.csv");
    let job = world.run(world.params(&pattern, by_path())).await;
    let told = job.notes.iter().any(|note| note.ends_with("acme/2026-11.csv = bolt/2026-11.csv."));
    assert!(told, "{:?}", job.notes);
    let stored = job.results.unwrap();
    assert_eq!((stored.len(), account(&stored[0])), (1, "bolt"), "{stored:?}");
    let source = stored[0].source.clone();
    assert_eq!(sums_by_account(&world, &source).await, sums(&[("bolt", "15.00")]));
    std::fs::hard_link(&file, folder.join("2026-12.csv")).unwrap();
    let again = world.refresh(&source).await.results.unwrap();
    assert!(again.is_empty(), "{again:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_without_an_account_is_asked_about_and_the_pattern_stays_for_later_files() {
    let world = World::new().await;
    let source = import_acme(&world).await;
    let odd = world.write("odd.csv", CLIENT_TWO);
    let asked = world.import_into(&source, &odd, ImportDecisions::default()).await;
    assert_eq!(questions(&asked), ["account"], "{asked:?}");
    assert_eq!(asked.questions[0].option, "--answer account=NAME");
    assert!(asked.questions[0].text.contains("does not fit clients/{account}/*.csv"), "{asked:?}");
    let stored = world.import_into(&source, &odd, answers(&[("account", "Bolt")])).await;
    assert!(stored.is_stored && account(&stored) == "Bolt", "{stored:?}");
    let given = ImportDecisions { account: Some("Crux".into()), ..ImportDecisions::default() };
    let given = world.import_into(&source, &odd, given).await;
    assert!(given.is_stored && !tells(&given, "from the path"), "{given:?}");
    let file = world.write("clients/dune/2026-11.csv", CLIENT_TWO);
    let later = world.import_into(&source, &file, ImportDecisions::default()).await;
    assert!(later.is_stored && account(&later) == "dune", "{later:?}");
    let forgotten = SourceAddParams {
        name: Some(source.clone()),
        forget_remembered: true,
        ..world.params(&world.write("clients/dune/2026-12.csv", CLIENT_TWO), answers(&[]))
    };
    let forgotten = world.run(forgotten).await.results.unwrap().remove(0);
    assert_eq!(account(&forgotten), "", "{forgotten:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_about_the_copy_of_a_pipe_names_no_folder_of_the_profile() {
    let world = World::new().await;
    let piped = world.write("profile/data/pipe/rates.csv", CLIENT_TWO);
    let asked = world.import_with(&piped, by_path()).await;
    assert_eq!(questions(&asked), ["account"], "{asked:?}");
    let text = &asked.questions[0].text;
    assert!(text.contains("rates.csv does not fit") && !text.contains("pipe/"), "{text}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_account_in_the_path_is_asked_about_unless_a_person_names_the_source() {
    let world = World::new().await;
    let source = import_acme(&world).await;
    let file = world.write("clients/bolt/2026-11.csv", CLIENT_TWO);
    let asked = world.import(&file).await;
    assert_eq!(questions(&asked), ["same_account"], "{asked:?}");
    assert!(asked.questions[0].text.contains("bolt, which has no rows yet"), "{asked:?}");
    let stored = world.import_with(&file, answers(&[("same_account", "same")])).await;
    assert!(stored.is_stored && stored.source == source, "{stored:?}");
    let later = "Day,Campaign,Cost,Impr.\n2026-11-03,Brand,90.00,900\n";
    let known = world.import(&world.write("clients/acme/2026-12.csv", later)).await;
    assert!(known.is_stored && known.source == source, "{known:?}");
    let all = [("acme", "300.00"), ("bolt", "15.00")];
    assert_eq!(sums_by_account(&world, &source).await, sums(&all));
    let other = world.write("clients/crux/2026-11.csv", CLIENT_TWO);
    let own = world.import_with(&other, answers(&[("same_account", "other")])).await;
    assert!(own.is_stored && own.is_new_source && account(&own).is_empty(), "{own:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_in_the_path_never_counts_more_than_that_in_the_file() {
    let world = World::new().await;
    let source = import_acme(&world).await;
    let titled = world.write("clients/acme/titled.csv", &format!("Account: Bolt\n{CLIENT_TWO}"));
    let asked = world.import_into(&source, &titled, ImportDecisions::default()).await;
    assert_eq!(questions(&asked), ["account"], "{asked:?}");
    let values: Vec<&str> =
        asked.questions[0].choices.iter().map(|choice| choice.value.as_str()).collect();
    assert_eq!(values, ["Bolt", "acme"]);
    assert_eq!(world.total(&source, "Cost").await, "210.00", "nothing was stored");
    let stored = world.import_into(&source, &titled, answers(&[("account", "Bolt")])).await;
    assert!(stored.is_stored, "{stored:?}");
    let both = [("Bolt", "15.00"), ("acme", "210.00")];
    assert_eq!(sums_by_account(&world, &source).await, sums(&both));
    let accounts = "Day,Account,Campaign,Cost\n2026-11-01,One,Oak,5.00\n2026-11-01,Two,Oak,6.00\n";
    let several = world.write("clients/acme/several.csv", accounts);
    let several = world.import_with(&several, by_path()).await;
    assert!(
        several.is_stored && tells(&several, "Account names the accounts. acme"),
        "{several:?}"
    );
    let own = [("One", "5.00"), ("Two", "6.00")];
    assert_eq!(sums_by_account(&world, &several.source).await, sums(&own));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_same_name_have_questions_of_their_own() {
    let world = World::new().await;
    world.write("clients/acme/2026-11.csv", CLIENT_ONE);
    world.write("clients/bolt/2026-11.csv", CLIENT_TWO);
    let pattern = world.folder.path().join("clients/*/*.csv");
    let import = |given: &[(&str, &str)]| {
        let account_from_path = Some("exports/{account}/*.csv".to_owned());
        let decisions = ImportDecisions { account_from_path, ..answers(given) };
        world.run(world.params(&pattern, decisions))
    };
    let asked = import(&[]).await.results.unwrap().remove(0);
    let first = questions(&asked)[0];
    let name = first.strip_prefix("account:").unwrap();
    assert!(["acme/2026-11.csv", "bolt/2026-11.csv"].contains(&name), "{asked:?}");
    assert_eq!(asked.questions[0].option, format!("--answer account:{name}=NAME"));
    let given = [("account:acme/2026-11.csv", "One"), ("account:bolt/2026-11.csv", "Two")];
    let stored = import(&given).await.results.unwrap();
    assert!(stored.iter().all(|one| one.is_stored), "{stored:?}");
    let both = [("One", "210.00"), ("Two", "15.00")];
    assert_eq!(sums_by_account(&world, &stored[0].source).await, sums(&both));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_that_does_not_name_the_account_is_refused() {
    let world = World::new().await;
    let file = world.write("clients/acme/2026-11.csv", CLIENT_ONE);
    for pattern in ["clients/*/*.csv", "{account}/{account}.csv"] {
        let account_from_path = Some(pattern.to_owned());
        let decisions = ImportDecisions { account_from_path, ..ImportDecisions::default() };
        let error = world.run(world.params(&file, decisions)).await.failure.unwrap();
        assert_eq!(error.reason_text(), Some("bad_account_pattern"), "{error:?}");
    }
    assert!(world.names().await.is_empty());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_amounts_of_another_file_of_a_folder_go_only_if_a_person_says_so() {
    let world = World::new().await;
    let events = |one: &str, other: &str| {
        format!("Day,Shop,Event\n2026-11-01,{one},open\n2026-11-02,{other},close\n")
    };
    world.write("events/eu.csv", &events("Oak", "Elm"));
    world.write("events/us.csv", &events("Ash", "Fir"));
    let pattern = world.folder.path().join("events/*.csv");
    let import = |decisions: ImportDecisions| {
        let name = Some("events".into());
        world.run(SourceAddParams { name, ..world.params(&pattern, decisions) })
    };
    let asked = import(ImportDecisions::default()).await.results.unwrap().remove(1);
    assert_eq!(questions(&asked), ["vanished:us.csv"], "{asked:?}");
    assert!(asked.questions[0].text.contains("eu.csv"), "{asked:?}");
    assert!(world.names().await.is_empty(), "nothing was stored");
    let rows = async || world.host.sources_list(Empty {}).await.unwrap().sources.remove(0).rows;
    let replaced = import(answers(&[("vanished", "replace")])).await.results.unwrap();
    assert!(replaced.iter().all(|one| one.is_stored), "{replaced:?}");
    assert_eq!(rows().await, Some(2));
    world.host.source_remove(named(&replaced[0].source)).await.unwrap();
    let kept = import(answers(&[("vanished", "keep")])).await.results.unwrap();
    assert!(kept.iter().all(|one| one.is_stored), "{kept:?}");
    assert_eq!(rows().await, Some(4));
    world.host.source_remove(named(&kept[0].source)).await.unwrap();
    let mode = Some(ImportMode::Key);
    let by_key = import(ImportDecisions { mode, ..ImportDecisions::default() }).await;
    let source = by_key.results.unwrap().remove(0).source;
    world.write("events/eu.csv", &events("Oak", "Beech"));
    let later = world.refresh(&source).await.results.unwrap();
    assert!(later.len() == 1 && later[0].is_stored, "the mode is remembered: {later:?}");
    assert_eq!(rows().await, Some(5));
    world.host.stop().await;
}
