/** The address of a form that a post leads back to. What must not or cannot stand in it is stored and named by its ID. */
import {
  keptOutOfAddress,
  LONGEST_QUERY,
  type Opened,
  startForm,
  writeForm,
} from "../../lib/domain/form/form-address.ts";
import { formSchematic, isSamePart } from "../../lib/domain/form/form-schematic.ts";
import { type FormState, initialForm } from "../../lib/domain/form/form-state.ts";
import { metaFault } from "../../lib/domain/form/meta-fields.ts";
import { canonicalSchematic } from "../../lib/domain/schematic-canonical.ts";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import { orNull } from "../../lib/errors/or-null.ts";
import type { Services } from "../../lib/services/contracts.ts";

/** True when the address alone would lose something. */
function needsKeeping(form: FormState, opened: Opened | null): boolean {
  const start = startForm(form.version, opened);
  return (
    keptOutOfAddress(form).some((part) => !isSamePart(part, form, start)) ||
    writeForm(form, opened).toString().length > LONGEST_QUERY
  );
}

/** All of the choice that can be stored; what cannot be read yet stays in the address. */
function keepableText(form: FormState, opened: Opened | null): string {
  const whole = orNull(() => canonicalSchematic(formSchematic(form, opened?.schematic)));
  if (whole !== null) return whole;
  const meta = form.meta.filter((field) => metaFault(field) !== "key");
  return canonicalSchematic(
    formSchematic({ ...initialForm(form.version), meta, embeddedConfig: form.embeddedConfig }),
  );
}

async function keep(services: Services, form: FormState, opened: Opened | null): Promise<Opened | null> {
  if (!needsKeeping(form, opened)) return opened;
  try {
    const { id, schematic } = await services.schematics.create(keepableText(form, opened));
    return { id, schematic };
  } catch (error) {
    if (isAppError(error) && error.status < 500) return opened;
    throw error;
  }
}

/** Path and query of the form with this choice; `extra` is added where it says something. */
export async function keepForm(
  services: Services,
  form: FormState,
  opened: Opened | null,
  extra: Record<string, string>,
): Promise<string> {
  const query = writeForm(form, await keep(services, form, opened));
  for (const [name, value] of Object.entries(extra)) if (value !== "") query.set(name, value);
  return `/?${query}`;
}
