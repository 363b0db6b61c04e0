/** POST /create: stores the schematic of the form and goes to its files; back to the form when something is wrong. */
import type { Opened } from "../../lib/domain/form/form-address.ts";
import { formProblems } from "../../lib/domain/form/form-problems.ts";
import { formSchematic } from "../../lib/domain/form/form-schematic.ts";
import { archOf, type FormState, platformOf } from "../../lib/domain/form/form-state.ts";
import { canonicalSchematic } from "../../lib/domain/schematic-canonical.ts";
import { idOfText } from "../../lib/domain/schematic-id.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import { orNull } from "../../lib/errors/or-null.ts";
import type { Services } from "../../lib/services/contracts.ts";
import { pageContext } from "../../lib/services/current.ts";
import { findOpened } from "../form-offer.ts";
import { readPost, seeOther } from "../form-request.ts";
import { unlessAway } from "../unless-away.ts";
import { keepForm } from "./keep-form.ts";
import { applyMove, readPostedForm, takeStaticIp } from "./posted-form.ts";

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

/** The ID of the choice when it is that of the opened schematic: then there is nothing to store. */
function sameId(form: FormState, opened: Opened | null): string | null {
  if (opened === null) return null;
  const id = orNull(() => idOfText(canonicalSchematic(formSchematic(form, opened.schematic))));
  return id === opened.id ? id : null;
}

async function isWrong({ releases }: Services, form: FormState): Promise<boolean> {
  const versions = (await unlessAway(releases.versions(), [])).map((version) => version.replace(/^v/, ""));
  const extensions = versions.includes(form.version) ? await releases.extensions(form.version) : null;
  return formProblems(form, { versions, extensions }).length > 0;
}

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const { services } = pageContext();
  const opened = await findOpened(services, fields);
  const form = readPostedForm(fields, opened);
  const back = async (changed: FormState, extra: Record<string, string> = {}) =>
    seeOther(await keepForm(services, changed, opened, extra));
  const search = { search: fields.get("search") ?? "", purpose: fields.get("purpose") ?? "" };
  const intent = fields.get("intent");
  const move = fields.get("move");
  if (move !== null) return back({ ...form, extensions: applyMove(form.extensions, move) }, search);
  if (intent === "add-ip") {
    const { cmdline, refused } = takeStaticIp(fields, form.cmdline);
    return back({ ...form, cmdline }, { ...search, ...refused });
  }
  if (intent === "apply") return back(form, search);
  const known = sameId(form, opened);
  const expected = fields.get("expected") ?? "";
  if (known !== null) return seeOther(resultPath(known, form, expected));
  if (await isWrong(services, form)) return back(form, { problem: "yes" });
  try {
    const stored = await services.schematics.create(
      canonicalSchematic(formSchematic(form, opened?.schematic)),
    );
    return seeOther(resultPath(stored.id, form, expected));
  } catch (error) {
    if (isAppError(error) && error.status < 500) return back(form, { problem: "refused" });
    throw error;
  }
}
