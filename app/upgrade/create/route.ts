/** POST /upgrade/create: stores the schematic that fits and goes to its files; back to the check when it does not fit yet. */
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";
import { filesPath, readUpgrade, upgradeFields } from "../upgrade-query.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const asked = readUpgrade(fields);
  if (asked === null) return seeOther("/upgrade");
  try {
    const { stored, report } = await pageContext().services.upgrades.migrate(asked);
    return seeOther(filesPath(stored.id, report.to, report.target));
  } catch (error) {
    // The check says what is in the way.
    if (isAppError(error) && error.status < 500)
      return seeOther(`/upgrade?${new URLSearchParams(upgradeFields(asked))}`);
    throw error;
  }
}
