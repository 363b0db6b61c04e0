/** POST /presets/:id/delete: forgets a preset; its schematic stays. */
import { pageContext } from "../../../../lib/services/current.ts";
import { readPost, seeOther } from "../../../form-request.ts";
import { problemOf } from "../../preset-form.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  try {
    await pageContext().services.presets.remove((await params).id);
    return seeOther("/presets");
  } catch (error) {
    return seeOther(`/presets?problem=${problemOf(error)}`);
  }
}
