//! Tests that a call ends properly whatever a server sends, and that the result does not depend on
//! how the bytes are split.

use kit::model_server::{Chunking, ModelServer, Reply};
use models::{Config, Provider};
use proptest::prelude::*;

use crate::support::{Answer, answer, config, world};

/// An answer, with only the kind of its error, because the error's message contains the port.
type End = (Answer, Option<engine::ports::ModelErrorKind>);

/// Generates pieces that parsers often fail on, and random bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = [
        "data: ",
        "data:",
        "\n\n",
        "\n",
        "\r\n",
        "\r",
        ": c\n\n",
        "event: x\n",
        "[DONE]",
        "{}",
        "{\"choices\":[",
        "]}",
        "\u{feff}",
        "{\"choices\":[{\"delta\":{\"content\":\"å𝄞\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"text\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"name\":\"n\",\"arguments\":\"{\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":-1e300,\"completion_tokens\":1e300}}\n\n",
        "data: [DONE]\n\n",
    ];
    prop_oneof![
        4 => proptest::sample::select(known.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..24),
    ]
}

async fn read(bytes: Vec<u8>, chunking: Chunking) -> End {
    let server = ModelServer::start([Reply::raw(bytes).chunked(chunking)]).await;
    let provider =
        Provider::new(Config { max_retries: 0, ..config(&server.base_url()) }, world()).unwrap();
    let mut answer = answer(&provider).await;
    let kind = answer.error.take().map(|error| error.kind);
    (answer, kind)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn invalid_stream_data_gives_the_same_result_with_any_chunk_sizes(pieces in proptest::collection::vec(piece(), 0..40), every in 1_usize..20) {
        let bytes = pieces.concat();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let whole = read(bytes.clone(), Chunking::Whole).await;
            prop_assert!(whole.0.finish.is_some() != whole.1.is_some(), "exactly one end: {whole:?}");
            let cut = read(bytes, Chunking::EveryBytes(every)).await;
            prop_assert_eq!(whole, cut);
            Ok(())
        })?;
    }
}
