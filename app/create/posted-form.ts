/** The form as it is posted: its fields, and what its buttons ask for when there are no scripts. */
import { moveExtension, sortedNames } from "../../lib/domain/form/extension-order.ts";
import { type Opened, readForm } from "../../lib/domain/form/form-address.ts";
import { type FormState, plainLines, settleForm } from "../../lib/domain/form/form-state.ts";
import {
  checkStaticIp,
  EMPTY_IP,
  IP_FIELDS,
  type StaticIp,
  withStaticIp,
} from "../../lib/domain/form/static-ip.ts";

/** The settled choice of a post. Fields that the page did not show are as in the opened schematic. */
export function readPostedForm(fields: URLSearchParams, opened: Opened | null): FormState {
  const form = readForm(fields, "", opened);
  const config = fields.get("embedded-config");
  return settleForm({ ...form, embeddedConfig: config === null ? form.embeddedConfig : plainLines(config) });
}

/** Does what a button of the order list says: "sort", or "<place> <step>". */
export function applyMove(names: readonly string[], text: string): string[] {
  if (text === "sort") return sortedNames(names);
  const [place = Number.NaN, by = Number.NaN] = text.split(" ").map(Number);
  return Number.isInteger(place) && Number.isInteger(by)
    ? moveExtension(names, place, place + by)
    : [...names];
}

/** The arguments with the posted address in them; else the fields again, as the form's address carries them. */
export function takeStaticIp(
  fields: URLSearchParams,
  cmdline: string,
): { cmdline: string; refused: Record<string, string> } {
  const ip: StaticIp = { ...EMPTY_IP };
  for (const name of IP_FIELDS) ip[name] = fields.get(`ip-${name}`) ?? "";
  const { argument } = checkStaticIp(ip);
  if (argument !== null) return { cmdline: withStaticIp(cmdline, argument), refused: {} };
  return { cmdline, refused: Object.fromEntries(IP_FIELDS.map((name) => [`ip-${name}`, ip[name]])) };
}
