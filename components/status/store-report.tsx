/** What lies in the store: ready files by kind, and everything by what it is for. */
import type { FactoryStatus, StoreUse } from "../../lib/services/status/contracts.ts";
import type { MessageKey, Words } from "../words/translator.ts";
import { Bars, StatusSection } from "./status-section.tsx";

const FOLDER_WORDS: Record<string, MessageKey> = {
  assets: "status.folder.assets",
  parts: "status.folder.parts",
  blobs: "status.folder.blobs",
  logs: "status.folder.logs",
};

function rowsOf(words: Words, uses: StoreUse[], nameOf: (name: string) => string) {
  const most = Math.max(1, ...uses.map((use) => use.sizeBytes));
  return uses.map(({ name, count, sizeBytes }) => ({
    name: nameOf(name),
    text: `${words.size(sizeBytes)} · ${words.plural("status.objects", count)}`,
    share: sizeBytes / most,
  }));
}

export function StoreReport({ words, store }: { words: Words; store: FactoryStatus["store"] }) {
  const { t, date } = words;
  const folderWord = (name: string) => {
    const key = FOLDER_WORDS[name];
    return key === undefined ? name : t(key);
  };
  return (
    <StatusSection id="store" title={t(`status.store.${store.kind}`)}>
      <div className="grid gap-8 lg:grid-cols-2">
        <div>
          <h3 className="eyebrow mb-2">{t("status.folders")}</h3>
          {store.folders === null ? (
            <p className="text-sm text-soft">{t("status.counting")}</p>
          ) : (
            <>
              <Bars rows={rowsOf(words, store.folders.uses, folderWord)} />
              <p className="mt-3 text-xs text-soft">
                {t("status.counted", { time: date(store.folders.countedAt) })}
              </p>
            </>
          )}
        </div>
        <div>
          <h3 className="eyebrow mb-2">{t("status.kinds")}</h3>
          {store.assets.length === 0 ? (
            <p className="text-sm text-soft">{t("builds.empty")}</p>
          ) : (
            <Bars rows={rowsOf(words, store.assets, (name) => name)} />
          )}
        </div>
      </div>
    </StatusSection>
  );
}
