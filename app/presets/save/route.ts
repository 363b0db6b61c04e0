/** POST /presets/save: keeps a choice, or changes a preset when the form names one; a refusal leads back with all fields. */
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";
import { presetOfFields, problemOf } from "../preset-form.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const { presets } = pageContext().services;
  const id = fields.get("id");
  try {
    const input = presetOfFields(fields);
    if (id === null) await presets.create(input);
    else await presets.replace(id, input);
    return seeOther("/presets");
  } catch (error) {
    fields.set("problem", problemOf(error));
    fields.delete("id");
    return seeOther(`/presets/${id === null ? "new" : encodeURIComponent(id)}?${fields}`);
  }
}
