/** No known release has this extension or overlay. */
import { Missing } from "../../components/page/missing.tsx";
import { requestPath, requestWords } from "../request-words.ts";
import { decodedSegment } from "./entry-page.tsx";

export default async function EntryNotFound() {
  const { t } = await requestWords();
  const { pathname } = new URL(await requestPath(), "http://localhost");
  const name = pathname.split("/").slice(3).map(decodedSegment).join("/");
  const last = name.slice(name.lastIndexOf("/") + 1);
  return (
    <Missing
      title={t("missing.entry")}
      text={t("missing.entry.hint")}
      detail={name}
      links={[
        { href: `/catalog?${new URLSearchParams({ q: last })}`, label: t("missing.entry.search") },
        { href: "/catalog", label: t("nav.catalog") },
      ]}
    />
  );
}
