/** POST /presets/import: makes a preset, and its schematic, from the document of one. */
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";
import { problemOf } from "../preset-form.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  try {
    await pageContext().services.presets.restore(fields.get("document") ?? "");
    return seeOther("/presets");
  } catch (error) {
    const problem = problemOf(error);
    const known = problem === "taken" || problem === "secret" || problem === "many";
    return seeOther(`/presets?problem=${known ? problem : "document"}`);
  }
}
