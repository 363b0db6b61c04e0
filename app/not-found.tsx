/** 404 of every other path. */
import { Missing } from "../components/page/missing.tsx";
import { requestPath, requestWords } from "./request-words.ts";

export default async function NotFound() {
  const { t } = await requestWords();
  const path = (await requestPath()).split("?", 1)[0] ?? "/";
  const build = path.startsWith("/builds/");
  return (
    <Missing
      title={t(build ? "missing.build" : "missing.page")}
      text={t(build ? "missing.build.hint" : "missing.page.hint")}
      detail={path}
      links={[
        { href: "/", label: t("nav.new") },
        { href: "/builds", label: t("nav.builds") },
      ]}
    />
  );
}
