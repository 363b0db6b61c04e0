/** POST /create: stores the schematic of the form and goes to its files; back to the form when something is wrong. */
import { formProblems } from "../../lib/domain/form/form-problems.ts";
import { formSchematic } from "../../lib/domain/form/form-schematic.ts";
import {
  archOf,
  type FormState,
  platformOf,
  readForm,
  settleForm,
  writeForm,
} from "../../lib/domain/form/form-state.ts";
import { canonicalSchematic } from "../../lib/domain/schematic-canonical.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import { pageContext } from "../../lib/services/current.ts";
import { readPost, seeOther } from "../form-request.ts";

/** Address of the result page for a choice. */
function resultPath(id: string, form: FormState, expected: string): string {
  const query = new URLSearchParams({
    version: `v${form.version}`,
    platform: platformOf(form),
    arch: archOf(form),
  });
  if (form.secureboot) query.set("secureboot", "true");
  if (expected !== "" && expected !== id) query.set("differs", "true");
  return `/schematics/${id}?${query}`;
}

/** Address of the form with this choice. */
function formPath(form: FormState, extra: Record<string, string>): string {
  const query = writeForm(form);
  for (const [name, value] of Object.entries(extra)) if (value !== "") query.set(name, value);
  return `/?${query}`;
}

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const form = settleForm({
    ...readForm(fields, ""),
    embeddedConfig: fields.get("embedded-config") ?? "",
  });
  const { releases, schematics } = pageContext().services;
  if (fields.get("intent") === "apply")
    return seeOther(formPath(form, { search: fields.get("search") ?? "" }));
  const versions = (await releases.versions()).map((version) => version.replace(/^v/, ""));
  const extensions = versions.includes(form.version) ? await releases.extensions(form.version) : null;
  const problems = formProblems(form, { versions, extensions });
  const secret = problems.some((problem) => problem.field === "embedded-config");
  if (problems.length > 0) return seeOther(formPath(form, { problem: secret ? "embedded-config" : "yes" }));
  try {
    const stored = await schematics.create(canonicalSchematic(formSchematic(form)));
    return seeOther(resultPath(stored.id, form, fields.get("expected") ?? ""));
  } catch (error) {
    if (isAppError(error) && error.status < 500) return seeOther(formPath(form, { problem: "refused" }));
    throw error;
  }
}
