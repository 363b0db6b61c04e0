/** The one thing to do with a file: download, follow its build, or build it. */
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  href: string;
  /** Build to follow. */
  buildId: string | null;
  /** True: there is something to download now. */
  ready: boolean;
  request: { schematic: string; version: string; path: string };
  primary?: boolean;
}

export function FileAction({ words, href, buildId, ready, request, primary = false }: Props) {
  const { t } = words;
  const look = `button ${primary ? "button-primary" : ""}`;
  const name = <span className="sr-only"> {request.path}</span>;
  if (ready) {
    return (
      <a href={href} className={look} download>
        {t("file.download")}
        {name}
      </a>
    );
  }
  if (buildId !== null) {
    return (
      <a href={`/builds/${buildId}?schematic=${request.schematic}`} className={look}>
        {t("file.follow")}
        {name}
      </a>
    );
  }
  return (
    <form method="post" action="/builds/start">
      <BuildFields request={request} />
      <button type="submit" className={look}>
        {t("file.build")}
        {name}
      </button>
    </form>
  );
}

/** What POST /builds/start needs to know. */
export function BuildFields({ request }: Pick<Props, "request">) {
  return (
    <>
      <input type="hidden" name="schematic" value={request.schematic} />
      <input type="hidden" name="version" value={request.version} />
      <input type="hidden" name="path" value={request.path} />
    </>
  );
}
