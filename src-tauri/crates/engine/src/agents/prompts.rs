//! Builds the prompts of a turn from their parts: the prompt of a run and the prompt of the
//! supervisor.

use std::sync::Arc;

use contract::{MemoryHit, PromptPart, ToolSpec};

use crate::{
    agents::route::{self, Answered},
    context::{
        abilities,
        egress::EgressSession,
        entities, history,
        memories::memory_lines,
        prompt::{self, Prompt, Voice},
    },
    conversation::recalled::Recalled,
    ports::Agent,
    turn::context::TurnContext,
};

/// Returns the specialists that are switched on and available to the caller.
pub(crate) fn agents_of(context: &TurnContext) -> Vec<Arc<Agent>> {
    let may_be_asked = |agent: &&Agent| {
        context.wanted.as_ref().is_none_or(|id| agent.id == *id)
            && context.services.switches.check_agent(&agent.id).is_ok()
    };
    context.world().roster.agents().iter().filter(may_be_asked).cloned().map(Arc::new).collect()
}

pub(crate) struct PromptWriter<'a> {
    pub(crate) context: &'a TurnContext,
    pub(crate) words: &'a EgressSession,
    /// The earlier messages that the model sees together with this prompt.
    pub(crate) recalled: Option<&'a Recalled>,
    /// The long-term memories that match the message.
    pub(crate) remembered: &'a [MemoryHit],
}

impl PromptWriter<'_> {
    /// Returns the prompt for a specialist's run with these tools.
    pub(crate) fn of_run(
        &self,
        voice: &Voice<'_>,
        specs: &[&ToolSpec],
        order: Option<&str>,
    ) -> Prompt {
        self.note_outside_parts(voice, specs);
        let mut prompt = Prompt::default();
        prompt.add(PromptPart::Base, &prompt::base(voice), true, self.words);
        prompt.add(
            PromptPart::Policy,
            &prompt::policy(self.context.settings.policy, self.words.level()),
            true,
            self.words,
        );
        prompt.add(PromptPart::Toolkit, &self.words.toolkit(specs), true, self.words);
        if voice.knows_abilities() {
            let text = abilities::text(self.context, &agents_of(self.context), self.words.level());
            prompt.add(PromptPart::Toolkit, &text, true, self.words);
        }
        if let Voice::Agent { agent, .. } = voice {
            prompt.add(
                PromptPart::EntityDefaults,
                &entities::defaults_text(agent),
                true,
                self.words,
            );
        }
        if !specs.is_empty() {
            prompt.add(PromptPart::Examples, prompt::EXAMPLES, true, self.words);
        }
        prompt.instruct(order.unwrap_or_default(), self.words);
        prompt.add(PromptPart::Memories, &self.memories(), false, self.words);
        prompt.remember(&memory_lines(self.remembered), self.words);
        prompt.add(PromptPart::DateTime, &self.date_time(), true, self.words);
        prompt
    }

    /// Marks the turn as untrusted if the prompt contains text that a server wrote and nobody
    /// accepted, or names from imported files.
    fn note_outside_parts(&self, voice: &Voice<'_>, specs: &[&ToolSpec]) {
        let sources = &self.context.sources;
        let named = if voice.knows_abilities() { self.context.offered() } else { Vec::new() };
        let is_strange = |spec: &&&ToolSpec| !spec.is_description_accepted;
        specs
            .iter()
            .chain(&named)
            .filter(is_strange)
            .for_each(|spec| sources.add_description(spec));
        if let Voice::Agent { agent, .. } = voice
            && self.context.world().tools.reads_files(&agent.pack)
        {
            let names = agent.entities.iter().map(|entity| entity.name.as_str());
            let names: Vec<&str> = names.collect();
            if !names.is_empty() {
                sources.add_remembered_text(&names.join(", "));
            }
        }
    }

    /// Returns the supervisor's prompt: its rules, the specialists it can ask, and the answers so
    /// far.
    pub(crate) fn of_supervisor(&self, agents: &[Arc<Agent>], answered: &[Answered]) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.add(PromptPart::Base, &route::rules(self.context.supervision()), true, self.words);
        prompt.add(PromptPart::Toolkit, &route::roster(agents), true, self.words);
        prompt.add(PromptPart::Memories, &self.memories(), false, self.words);
        prompt.add_up_to(
            self.max_answers_len(),
            PromptPart::Memories,
            &route::answers(answered),
            self.words,
        );
        prompt.remember(&memory_lines(self.remembered), self.words);
        prompt.add(PromptPart::DateTime, &self.date_time(), true, self.words);
        prompt
    }

    /// Returns the summary of the messages that are too old to be sent.
    fn memories(&self) -> String {
        self.recalled.and_then(Recalled::summary).map(history::summary_text).unwrap_or_default()
    }

    /// Returns the most bytes that the earlier answers may take in a prompt: half of what the model
    /// can read.
    pub(crate) fn max_answers_len(&self) -> usize {
        (self.context.model.capabilities().context_tokens as usize).saturating_mul(3) / 2
    }

    /// Returns the date and time at which the turn began. All prompts of a turn have the same date
    /// and time, so that providers can cache the prompt and a replay sends the same prompts.
    pub(crate) fn date_time(&self) -> String {
        prompt::date_time(self.context.started_at, &self.context.world().profile.time_zone())
    }
}
