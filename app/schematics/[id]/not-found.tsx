/** What is missing: the schematic or the version, and where to go instead. */
import { Missing } from "../../../components/page/missing.tsx";
import { pageContext } from "../../../lib/services/current.ts";
import { requestPath, requestWords } from "../../request-words.ts";
import { unlessAway } from "../../unless-away.ts";

/** The text of a path segment; one that is not encoded as it should be stays as it is. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export default async function ResultNotFound() {
  const { t } = await requestWords();
  const url = new URL(await requestPath(), "http://localhost");
  const id = decoded(url.pathname.split("/")[2] ?? "");
  const { schematics, releases } = pageContext().services;
  if ((await schematics.find(id)) === null) {
    return (
      <Missing
        title={t("missing.schematic")}
        text={t("missing.schematic.hint")}
        detail={id}
        links={[{ href: "/", label: t("nav.new") }]}
      />
    );
  }
  const versions = [...(await unlessAway(releases.versions(), []))].reverse();
  const other = (version: string) => {
    const query = new URLSearchParams(url.search);
    query.set("version", version);
    return `${url.pathname}?${query}`;
  };
  return (
    <Missing
      title={t("missing.version", { version: url.searchParams.get("version") ?? "" })}
      text={t("missing.version.hint")}
      links={versions.map((version) => ({ href: other(version), label: version }))}
    />
  );
}
