// Has a word of a question understood as a measure or dimension of its source from now on. The host records who decided it.
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { RememberedWord } from "../../../platform/generated/RememberedWord";

/** Stores a word as another name. Returns the error of the host if it refuses. */
export async function rememberWord({
  source,
  name,
  word,
  language,
}: RememberedWord): Promise<AgentError | null> {
  try {
    await call("source_synonym_add", { source, name, word, language });
    return null;
  } catch (cause) {
    return asAgentError(cause);
  }
}
