/** Opens an ID, an address or a reference (`/open?what=…`, and beside it version, platform, arch, secureboot), and says what can be opened when it cannot be understood. */
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { OpenForm } from "../../components/form/open-box.tsx";
import { Notice } from "../../components/ui/notice.tsx";
import { readPasted, targetOfQuery } from "../../lib/domain/form/open-reference.ts";
import { pageContext } from "../../lib/services/current.ts";
import { type PageQuery, toQuery } from "../page-query.ts";
import { requestWords } from "../request-words.ts";
import { type Opening, openPasted } from "./open-pasted.ts";

const PROBLEMS = ["unknown", "talosctl", "missing", "yaml"] as const;
type Problem = Exclude<Opening, { kind: "found" }>;

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await requestWords()).t("open.title") };
}

/** The problem that the post of the box came back with. */
function toldProblem(query: URLSearchParams): Problem | null {
  const kind = PROBLEMS.find((one) => one === query.get("problem"));
  return kind === undefined ? null : { kind, about: query.get("about") ?? "" };
}

export default async function OpenPage({ searchParams }: { searchParams: Promise<PageQuery> }) {
  const query = toQuery(await searchParams);
  const { t } = await requestWords();
  const what = query.get("what") ?? "";
  // YAML would be stored, which asking for a page must not do: it waits in the box to be posted.
  const waits = what.trim() === "" || readPasted(what).kind === "yaml";
  const opening = waits ? null : await openPasted(pageContext().services, what, targetOfQuery(query));
  if (opening?.kind === "found") redirect(opening.path);
  const problem = opening ?? toldProblem(query);
  const forms = ["id", "installer", "image", "pxe", "form", "yaml"] as const;
  return (
    <div className="max-w-2xl space-y-4">
      <h1 className="text-xl font-semibold tracking-tight">{t("open.title")}</h1>
      {problem && (
        <Notice tone="bad">
          <p className="break-words">{t(`open.problem.${problem.kind}`, { about: problem.about })}</p>
        </Notice>
      )}
      <OpenForm text={what || (query.get("pasted") ?? "")} primary />
      <section aria-labelledby="open-forms" className="space-y-2 border-t border-line pt-6">
        <h2 id="open-forms" className="font-semibold">
          {t("open.forms")}
        </h2>
        <dl className="space-y-3 text-sm">
          {forms.map((form) => (
            <div key={form}>
              <dt className="font-medium">{t(`open.form.${form}`)}</dt>
              <dd className="break-all font-mono text-xs leading-5 text-soft">{EXAMPLES[form]}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}

const ID = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
const EXAMPLES = {
  id: ID,
  installer: `factory.example/metal-installer-secureboot/${ID}:v1.13.2`,
  image: `https://factory.example/image/${ID}/v1.13.2/nocloud-amd64.raw.xz`,
  pxe: `https://factory.example/pxe/${ID}/v1.13.2/metal-amd64`,
  form: "https://factory.example/?target=metal&version=1.13.2&extensions=siderolabs/gvisor",
  yaml: "customization: {systemExtensions: {officialExtensions: [siderolabs/gvisor]}}",
};
