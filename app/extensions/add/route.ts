/** POST /extensions/add: a new source in a registry. */
import { parseOwnSource } from "../../../lib/domain/own-sources.ts";
import { changing } from "../page-access.ts";

/** The trust rule that the form chose. */
function trustOf(fields: URLSearchParams): Record<string, string> {
  const rule = fields.get("trust") ?? "off";
  if (rule === "key") return { rule, pem: fields.get("pem") ?? "" };
  if (rule === "digest") return { rule, digest: (fields.get("digest") ?? "").trim() };
  return { rule: "off" };
}

export async function POST(request: Request): Promise<Response> {
  return changing(request, "/extensions", async (own, fields) => {
    const text = (name: string) => (fields.get(name) ?? "").trim();
    const source = parseOwnSource({
      kind: text("kind"),
      subject: text("subject") || "extension",
      namespace: text("namespace"),
      ...(text("name") === "" ? {} : { name: text("name") }),
      reference: text("reference"),
      trust: trustOf(fields),
      override: fields.get("override") === "1",
    });
    const { id } = await own.add(source, request.signal);
    return `/extensions/${id}`;
  });
}
