//! Tests of questions that are being typed: words that fit, words that would not be used, words of
//! a person as other names, and questions to begin with.

use contract::{
    Commands as _, QuestionReadParams, QuestionReadResponse, QuestionSuggestionsParams,
    SourceDescription, SourceSynonymParams,
    params::{CompletionKind, QuestionSpan},
};
use host::Options;
use tempfile::TempDir;

use super::{CLIENT_ONE, World, named};

/// Opens a profile with the pack `data` alone, whose questions the offline model answers.
async fn open() -> (World, TempDir) {
    let packs = tempfile::tempdir().unwrap();
    crate::data_tools::copy_pack(&packs.path().join("data"));
    let folder = packs.path().to_owned();
    let with_pack = |options: Options| Options { pack_dirs: vec![folder.clone()], ..options };
    (World::with(with_pack).await, packs)
}

/// Reads a question with the caret at its end.
async fn read(world: &World, text: &str) -> QuestionReadResponse {
    let params = QuestionReadParams {
        text: text.to_owned(),
        cursor: u32::try_from(text.encode_utf16().count()).unwrap(),
        language: "en".to_owned(),
        before: None,
    };
    world.host.question_read(params).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_completed_and_its_unused_words_are_named() {
    let (world, _packs) = open().await;
    let nothing = read(&world, "spend by cam").await;
    assert!(nothing.completions.is_empty() && nothing.unused.is_empty(), "{nothing:?}");
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;

    let found = read(&world, "spend by cam").await;
    let first = found.completions.first().unwrap();
    assert_eq!((first.insert.as_str(), first.kind), ("campaign", CompletionKind::Dimension));
    assert_eq!((first.from, first.to, first.of.as_deref()), (9, 12, Some("ads")));

    let unused = read(&world, "zorgly spend by campaign").await.unused;
    assert_eq!(unused, [QuestionSpan { from: 0, to: 6 }]);
    let about_nothing = read(&world, "zorgly xyzzy").await;
    assert!(about_nothing.unused.is_empty(), "{about_nothing:?}");

    let params = QuestionSuggestionsParams {
        language: "en".to_owned(),
        source: Some("ads".into()),
        query: None,
        limit: 3,
    };
    let suggested = world.host.question_suggestions(params).await.unwrap().questions;
    assert!(!suggested.is_empty() && suggested.len() <= 3, "{suggested:?}");
    for question in suggested {
        assert!(read(&world, &question).await.unused.is_empty(), "{question}");
    }
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_a_person_chose_is_another_name_and_approves_nothing() {
    let (world, _packs) = open().await;
    let source = world.import(&world.write("ads.csv", CLIENT_ONE)).await.source;
    let before = world.host.source_describe(named(&source)).await.unwrap();
    assert!(before.source.proposed > 0, "a sum that no total confirms is proposed");
    assert_eq!(read(&world, "quorbs by campaign last month").await.unused.len(), 1);

    let mut params = SourceSynonymParams {
        source: source.clone(),
        name: "spend".to_owned(),
        word: "quorbs".to_owned(),
        language: "en".to_owned(),
    };
    world.host.source_synonym_add(params.clone()).await.unwrap();
    let after = world.host.source_describe(named(&source)).await.unwrap();
    assert_eq!(after.definitions.measures["spend"].synonyms["en"], ["quorbs"]);
    let approvals = |shown: &SourceDescription| (shown.source.approved, shown.source.proposed);
    assert_eq!(approvals(&after), approvals(&before));
    assert!(read(&world, "quorbs by campaign last month").await.unused.is_empty());

    params.name = "no_such_measure".to_owned();
    let refused = world.host.source_synonym_add(params).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("unknown_name"));
    world.host.stop().await;
}
