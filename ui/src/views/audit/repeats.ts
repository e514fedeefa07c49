// Records that say the same one after another, as one group of the list. Knows no component.
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import { objectOf, titleOf } from "./words";

export interface Repeats {
  /** The records, the newest first. Never empty. */
  records: AuditRecordView[];
}

/** Fewer records than this are read as fast as the line that would stand for them. */
const FEWEST = 3;

/** Groups records that follow each other and say the same. `isAlone` names those that are always shown. */
export function groupRepeats(
  all: readonly AuditRecordView[],
  isAlone: (record: AuditRecordView) => boolean,
): Repeats[] {
  const runs: Repeats[] = [];
  let last: string | null = null;
  for (const record of all) {
    const said = JSON.stringify([titleOf(record), objectOf(record), record.status ?? ""]);
    const alone = isAlone(record);
    if (!alone && said === last) runs.at(-1)!.records.push(record);
    else runs.push({ records: [record] });
    last = alone ? null : said;
  }
  return runs.flatMap((run) =>
    run.records.length < FEWEST ? run.records.map((record) => ({ records: [record] })) : [run],
  );
}
