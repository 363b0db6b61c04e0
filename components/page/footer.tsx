/** Bottom of every page: what runs here and what is worth knowing about its source. */
import type { SourceStatus } from "../../lib/services/contracts.ts";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  version: string;
  source: SourceStatus;
  /** True when the source offers sample releases. */
  sample: boolean;
}

export function Footer({ words, version, source, sample }: Props) {
  const { t } = words;
  return (
    <footer className="no-print mt-16 border-t border-line">
      <div className="mx-auto flex max-w-[84rem] flex-col gap-1 px-4 pb-24 pt-6 text-sm text-soft lg:px-8 lg:pb-8">
        <nav aria-label={t("footer.label")} className="mb-2 flex flex-wrap gap-x-5">
          <a href="/extensions" className="link sm:hidden">
            {t("nav.own")}
          </a>
          <a href="/status" className="link">
            {t("nav.status")}
          </a>
          <a href="/api" className="link">
            {t("nav.api")}
          </a>
        </nav>
        <p>{t("footer.product", { version })}</p>
        <p>
          {t("footer.source", { registry: source.registry })}{" "}
          {source.verification === "off" ? t("footer.unverified") : t("footer.verified")}
        </p>
        {sample && <p>{t("footer.sample")}</p>}
      </div>
    </footer>
  );
}
