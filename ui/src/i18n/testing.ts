// Loads the texts of all languages before the tests, which choose one without waiting for it.
import { languages, loadTexts } from "./catalogue";

await Promise.all(languages.map(({ tag }) => loadTexts(tag)));
