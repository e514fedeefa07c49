//! Tests of routing questions to specialists, with the shipped packs and the sources of the sample.

use contract::{AgentId, ToolId};
use engine::ports::{FINISH, ModelEvent, Purpose, RouteDecision, RouteEntity};

use super::world::World;
use crate::book::Book;

/// The tool that answers questions about sources.
const MEASURE: &str = "data_measure";

fn agents(world: &World) -> Vec<(AgentId, Vec<String>)> {
    let names =
        world.request(true).tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
    let (data, shop) = names.into_iter().partition(|name| name.starts_with("data_"));
    vec![("guardian".into(), data), ("shopper".into(), shop)]
}

fn decided(text: &str, answered: &[&str]) -> RouteDecision {
    let mut world = World::with_sample();
    let purpose = Purpose::Route {
        agents: agents(&world),
        answered: answered.iter().map(|id| AgentId::from(*id)).collect(),
    };
    serde_json::from_str(&world.asked_for(text, purpose)).expect("a decision")
}

#[test]
fn each_part_of_a_message_is_routed_to_the_specialist_with_the_needed_tools() {
    for (text, answered, next) in [
        ("How is account 17 pacing this month?", &[][..], "guardian"),
        ("Hur ligger konto 17 till den här månaden?", &[], "guardian"),
        ("show me trail shoes", &[], "shopper"),
        ("How is Fernhill pacing, and show me trail shoes", &[], "guardian"),
        ("How is Fernhill pacing, and show me trail shoes", &["guardian"], "shopper"),
        ("How is Fernhill pacing, and show me trail shoes", &["guardian", "shopper"], FINISH),
        ("hello", &[], FINISH),
    ] {
        assert_eq!(decided(text, answered).next, next, "{text}");
    }
    let decision = decided("show me trail shoes", &[]);
    let is_query = |entity: &RouteEntity| entity.kind == "query" && entity.value == "trail shoes";
    assert!(decision.entities.iter().any(is_query), "{decision:?}");
}

#[test]
fn a_specialist_plans_only_its_own_part_of_the_message() {
    let mut world = World::with_sample();
    let own = agents(&world).remove(1).1;
    let events = world.events_for(
        "How is Fernhill pacing, and show me trail shoes",
        Purpose::Part { tools: own },
    );
    let called: Vec<String> = events
        .into_iter()
        .filter_map(|event| if let ModelEvent::Call(call) = event { Some(call.name) } else { None })
        .collect();
    assert_eq!(called, ["product_search"]);
}

#[test]
fn the_specialist_of_the_pack_of_a_tool_comes_before_others_that_have_it() {
    let mut world = World::with_sample();
    let data = agents(&world).remove(0).1;
    let agents = vec![("guardian".into(), data.clone()), ("data".into(), data)];
    let text = "How is account 17 pacing this month?";
    let decided = world.asked_for(text, Purpose::Route { agents, answered: Vec::new() });
    let decision: RouteDecision = serde_json::from_str(&decided).expect("a decision");
    assert_eq!(decision.next, "data");
}

/// As the fallback of a model that calls the route tool, the offline model calls the route tool,
/// too.
#[test]
fn a_message_for_a_specialist_is_passed_on_with_the_route_tool() {
    let mut world = World::with_sample();
    let purpose =
        || Purpose::Assist { route: "route".to_owned(), agents: agents(&World::with_sample()) };
    let mut asked = |text: &str| {
        let (mut called, mut said) = (Vec::new(), String::new());
        for event in world.events_for(text, purpose()) {
            match event {
                ModelEvent::Call(call) => {
                    assert_eq!(call.name, "route");
                    let decision: RouteDecision =
                        serde_json::from_str(&call.arguments).expect("a decision");
                    called.push(decision.next);
                }
                ModelEvent::Text(text) => said.push_str(&text),
                _ => {}
            }
        }
        (called, said)
    };
    let (called, said) = asked("How is Fernhill pacing, and show me trail shoes");
    assert_eq!((called, said.as_str()), (vec!["guardian".to_owned(), "shopper".to_owned()], ""));
    let (called, said) = asked("Hello");
    assert!(called.is_empty() && !said.is_empty(), "{said}");
}

#[test]
fn a_mentioned_specialist_is_not_read_as_part_of_the_question() {
    for text in [
        "@Guardian How is account 17 pacing this month?",
        "How is account 17 pacing this month, @guardian?",
    ] {
        let mut world = World::with_sample();
        let own = agents(&world).remove(0).1;
        let events = world.events_for(text, Purpose::Part { tools: own });
        let called = events
            .iter()
            .any(|event| matches!(event, ModelEvent::Call(call) if call.name == MEASURE));
        assert!(called, "{text}: {events:?}");
    }
    let mut world = World::with_sample();
    let own = agents(&world).remove(1).1;
    let events = world.events_for("@Shopper show me trail shoes", Purpose::Part { tools: own });
    let Some(ModelEvent::Call(call)) = events.first() else { panic!("a search: {events:?}") };
    assert!(!call.arguments.to_lowercase().contains("shopper"), "{}", call.arguments);
}

#[test]
fn several_answers_are_summarised_by_their_first_sentences() {
    let mut world = World::with_sample();
    let answers = vec![
        ("Guardian".to_owned(), "**A** is behind.\n\n| x |".into()),
        ("Shopper".to_owned(), "\n## Found\nTwo boots.".into()),
    ];
    let text = world.asked_for("how is A, and boots?", Purpose::Synthesis { answers });
    assert_eq!(text, "In short:\n\n- **Guardian**: **A** is behind.\n- **Shopper**: Two boots.");
}

#[test]
fn tools_with_qualified_ids_are_found_as_well_as_plain_ones() {
    let mut packs = super::world::packs();
    for pack in &mut packs {
        for tool in &mut pack.tools {
            tool.id = ToolId::qualified(&pack.manifest.id, &tool.id);
        }
    }
    let (plain, qualified) = (Book::new(super::world::packs()), Book::new(packs));
    assert_eq!(plain.tools.len(), qualified.tools.len());
    for tool in 0..plain.tools.len() {
        let (pack, id) = (plain.tools[tool].pack, plain.tools[tool].spec.id.as_str());
        assert_eq!(qualified.tool_by_id(pack, id), Some(tool), "{id}");
    }
}
